#include "engine/text/jinja/strftime.h"

#include <array>
#include <utility>

namespace quern::engine::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

std::string padded(int value, std::size_t width, char fill) {
    std::string digits = std::to_string(value);
    return digits.size() < width ? std::string(width - digits.size(), fill) + digits : digits;
}

int hour12(const std::tm& time) {
    const int hour = time.tm_hour % 12;
    return hour == 0 ? 12 : hour;
}

int isoWeekday(const std::tm& time) {
    return time.tm_wday == 0 ? 7 : time.tm_wday;
}

/// ISO 8601 week and the year it belongs to.
std::pair<int, int> isoWeek(const std::tm& time) {
    int year = time.tm_year + 1900;
    int week = (time.tm_yday + 1 - isoWeekday(time) + 10) / 7;
    const auto weeksIn = [](int y) {
        const auto start = [](int q) { return (q + q / 4 - q / 100 + q / 400) % 7; };
        return start(y) == 4 || start(y - 1) == 3 ? 53 : 52;
    };
    if (week < 1) {
        --year;
        week = weeksIn(year);
    } else if (week > weeksIn(year)) {
        ++year;
        week = 1;
    }
    return {year, week};
}

/// `isPadded` is false for the "-" flag.
std::string directive(char letter, const std::tm& time, bool isPadded) {
    const auto number = [isPadded](int value, std::size_t width, char fill = '0') {
        return isPadded ? padded(value, width, fill) : std::to_string(value);
    };
    switch (letter) {
        case 'a':
            return std::string(kDays[static_cast<std::size_t>(time.tm_wday)].substr(0, 3));
        case 'A':
            return std::string(kDays[static_cast<std::size_t>(time.tm_wday)]);
        case 'b':
        case 'h':
            return std::string(kMonths[static_cast<std::size_t>(time.tm_mon)].substr(0, 3));
        case 'B':
            return std::string(kMonths[static_cast<std::size_t>(time.tm_mon)]);
        case 'c':
            return formatTime("%a %b %e %H:%M:%S %Y", time);
        case 'C':
            return number((time.tm_year + 1900) / 100, 2);
        case 'd':
            return number(time.tm_mday, 2);
        case 'D':
        case 'x':
            return formatTime("%m/%d/%y", time);
        case 'e':
            return number(time.tm_mday, 2, ' ');
        case 'F':
            return formatTime("%Y-%m-%d", time);
        case 'f':
            return "000000";
        case 'g':
            return number(isoWeek(time).first % 100, 2);
        case 'G':
            return std::to_string(isoWeek(time).first);
        case 'H':
            return number(time.tm_hour, 2);
        case 'I':
            return number(hour12(time), 2);
        case 'j':
            return number(time.tm_yday + 1, 3);
        case 'k':
            return number(time.tm_hour, 2, ' ');
        case 'l':
            return number(hour12(time), 2, ' ');
        case 'm':
            return number(time.tm_mon + 1, 2);
        case 'M':
            return number(time.tm_min, 2);
        case 'n':
            return "\n";
        case 'p':
            return time.tm_hour < 12 ? "AM" : "PM";
        case 'P':
            return time.tm_hour < 12 ? "am" : "pm";
        case 'r':
            return formatTime("%I:%M:%S %p", time);
        case 'R':
            return formatTime("%H:%M", time);
        case 's': {
            std::tm copy = time;
            return std::to_string(timegm(&copy) - time.tm_gmtoff);
        }
        case 'S':
            return number(time.tm_sec, 2);
        case 't':
            return "\t";
        case 'T':
        case 'X':
            return formatTime("%H:%M:%S", time);
        case 'u':
            return std::to_string(isoWeekday(time));
        case 'U':
            return number((time.tm_yday + 7 - time.tm_wday) / 7, 2);
        case 'V':
            return number(isoWeek(time).second, 2);
        case 'w':
            return std::to_string(time.tm_wday);
        case 'W':
            return number((time.tm_yday + 7 - (isoWeekday(time) - 1)) / 7, 2);
        case 'y':
            return number((time.tm_year + 1900) % 100, 2);
        case 'Y':
            return std::to_string(time.tm_year + 1900);
        case 'z':  // Python's datetime.now() knows no zone, and prints none.
        case 'Z':
            return "";
        case '%':
            return "%";
        default:
            return std::string(isPadded ? "%" : "%-") + letter;
    }
}

}  // namespace

std::string formatTime(std::string_view format, const std::tm& time) {
    std::string out;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%' || i + 1 == format.size()) {
            out += format[i];
            continue;
        }
        ++i;
        const bool isPadded = format[i] != '-' || i + 1 == format.size();
        i += isPadded ? 0U : 1U;
        out += directive(format[i], time, isPadded);
    }
    return out;
}

}  // namespace quern::engine::jinja
