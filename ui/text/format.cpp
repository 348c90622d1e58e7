#include "ui/text/format.h"

#include <QLocale>
#include <array>
#include <cmath>

namespace quern::ui {

QString formatCount(std::int64_t value) {
    QLocale locale;
    locale.setNumberOptions(QLocale::OmitGroupSeparator);
    QString digits = locale.toString(static_cast<qlonglong>(value));
    const qsizetype first = value < 0 ? 1 : 0;
    for (qsizetype at = digits.size() - 3; at > first; at -= 3) {
        digits.insert(at, QChar(0x202F));
    }
    return digits;
}

QString formatDecimal(double value, int decimals) {
    QLocale locale;
    locale.setNumberOptions(QLocale::OmitGroupSeparator);
    return locale.toString(std::isfinite(value) ? value : 0.0, 'f', decimals);
}

QString formatRate(double value) {
    const double size = std::abs(value);
    if (size >= 99.95 || size == 0) {
        return formatCount(std::llround(std::isfinite(value) ? value : 0.0));
    }
    return formatDecimal(value, size >= 0.995 ? 1 : 2);
}

QString formatBytes(std::int64_t bytes) {
    static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (std::abs(value) >= 1000 && unit + 1 < kUnits.size()) {
        value /= 1024;
        ++unit;
    }
    const double most = unit >= 3 ? 99.95 : unit == 2 ? 9.95 : 0;
    const int decimals = std::abs(value) >= most ? 0 : 1;
    return formatDecimal(value, decimals) + QChar(0x00A0) + QLatin1String(kUnits[unit]);
}

QString formatParameters(std::int64_t parameters) {
    const auto value = static_cast<double>(parameters);
    if (value >= 999.5e6) {
        return formatDecimal(value / 1e9, value < 99.95e9 ? 1 : 0) + QStringLiteral("\u00A0B");
    }
    return formatDecimal(value / 1e6, value < 9.95e6 ? 1 : 0) + QStringLiteral("\u00A0M");
}

QString formatMilliseconds(double ms) {
    if (ms >= 9999.5) {
        return formatDecimal(ms / 1000, 1) + QStringLiteral("\u00A0s");
    }
    return (ms > 0 && ms < 99.95 ? formatDecimal(ms, 1) : formatCount(std::llround(ms))) +
           QStringLiteral("\u00A0ms");
}

QString formatPercent(double share) {
    return formatCount(std::llround(share * 100));
}

}  // namespace quern::ui
