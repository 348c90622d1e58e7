#include "engine/text/jinja/globals.h"

#include <array>
#include <chrono>
#include <ctime>
#include <utility>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/sorting.h"
#include "engine/text/jinja/strftime.h"

namespace quern::engine::jinja {
namespace {

// The limit of the reference's sandbox.
constexpr std::int64_t kMaxRange = 100000;
constexpr std::int64_t kMaxBound = std::int64_t{1} << 53U;

Value makeRange(Interpreter& interpreter, const Arguments& arguments) {
    const Parameters given("range", arguments, {"start", "stop", "step"}, 1);
    if (!arguments.named.empty()) {
        raiseType("range() takes no keyword arguments");
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t bound = given.integer(i, 0);
        if (bound > kMaxBound || bound < -kMaxBound) {
            raise("OverflowError", "a bound of range is beyond 2^53");
        }
    }
    const bool hasStart = given.has(1);
    const std::int64_t start = hasStart ? given.integer(0, 0) : 0;
    const std::int64_t stop = given.integer(hasStart ? 1 : 0, 0);
    const std::int64_t step = given.integer(2, 1);
    if (step == 0) {
        raiseValue("range() arg 3 must not be zero");
    }
    auto& range = interpreter.heap().make<Range>(start, stop, step);
    if (range.length() > kMaxRange) {
        raise("OverflowError",
              "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
    }
    return Value(&range);
}

Value makeDict(Interpreter& interpreter, const Arguments& arguments) {
    auto& dict = interpreter.heap().make<Dict>();
    updateDict(interpreter, dict, arguments);
    return Value(&dict);
}

Value makeNamespace(Interpreter& interpreter, const Arguments& arguments) {
    auto& space = interpreter.heap().make<Namespace>();
    updateDict(interpreter, space.values, arguments);
    return Value(&space);
}

Value makeCycler(Interpreter& interpreter, const Arguments& arguments) {
    if (arguments.positional.empty()) {
        raise("RuntimeError", "at least one item has to be provided");
    }
    return Value(&interpreter.heap().make<Cycler>(arguments.positional));
}

Value makeJoiner(Interpreter& interpreter, const Arguments& arguments) {
    const Parameters given("joiner", arguments, {"sep"});
    return Value(
        &interpreter.heap().make<Joiner>(given.has(0) ? given[0] : interpreter.text(", ")));
}

Value raiseException(Interpreter& /*interpreter*/, const Arguments& arguments) {
    const Parameters given("raise_exception", arguments, {"message"}, 1);
    raise("TemplateError", toText(given[0]));
}

Value strftimeNow(Interpreter& interpreter, const Arguments& arguments) {
    const Parameters given("strftime_now", arguments, {"format"}, 1);
    std::tm parts{};
    std::time_t seconds = 0;
    if (interpreter.now()) {
        seconds = static_cast<std::time_t>(*interpreter.now());
        gmtime_r(&seconds, &parts);
    } else {
        seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
        localtime_r(&seconds, &parts);
    }
    return interpreter.text(formatTime(given.text(0, ""), parts));
}

constexpr std::array<std::pair<std::string_view, NativeFunction>, 7> kFunctions = {{
    {"range", makeRange},
    {"dict", makeDict},
    {"namespace", makeNamespace},
    {"cycler", makeCycler},
    {"joiner", makeJoiner},
    {"raise_exception", raiseException},
    {"strftime_now", strftimeNow},
}};

}  // namespace

NativeFunction findGlobal(std::string_view name) {
    for (const auto& [known, function] : kFunctions) {
        if (known == name) {
            return function;
        }
    }
    return nullptr;
}

}  // namespace quern::engine::jinja
