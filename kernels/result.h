#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace quern {

/// What kind of failure it is: enough for a caller to choose what to do, and for the endpoint to
/// choose a status. Closed on purpose: the message says the rest.
enum class ErrorCode {
    kInvalidArgument,  // the caller's value is wrong; it names the value and what is allowed
    kContextLength,    // prompt and reply do not fit the model's context; names both numbers
    kNotFound,         // a file, a model, a conversation that is not there
    kCorrupt,          // a file that breaks its format; names the field
    kUnsupported,      // well formed, but nothing here can do it yet; names the nearest that is
    kOutOfMemory,      // does not fit: says the need and what there is
    kIo,               // the system refused: disk full, permission, network
    kBusy,             // too much at once, try again: queue full, locked by another
    kUnavailable,      // not yet or no longer: a model that loads, an engine that ends
    kConflict,         // taken by another: a port, a lock, a name
    kCancelled,
    kInternal,  // our own fault
};

/// A failure, told to a person. `message` names what is wrong with the number that is wrong and the
/// one that would be right; never user content. `cause` is the lower-level text, where there is
/// one.
struct Error {
    ErrorCode code = ErrorCode::kInternal;
    std::string message;
    std::string cause = {};
    /// The wrong value's name as the endpoint spells it ("top_p"), where one value is to blame.
    std::string field = {};
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// Shorthand for `return fail(ErrorCode::kCorrupt, "…")` in a function that returns a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                                std::string cause = {}) {
    return tl::unexpected<Error>(
        Error{.code = code, .message = std::move(message), .cause = std::move(cause)});
}

/// A value that is out of range or contradictory: `field` is its name as the endpoint spells it.
[[nodiscard]] inline tl::unexpected<Error> failField(std::string field, std::string message,
                                                     ErrorCode code = ErrorCode::kInvalidArgument) {
    return tl::unexpected<Error>(
        Error{.code = code, .message = std::move(message), .cause = {}, .field = std::move(field)});
}

/// Passes the error of another Result on.
template <class T>
[[nodiscard]] tl::unexpected<Error> forward(Result<T>& failed) {
    return tl::unexpected<Error>(std::move(failed.error()));
}

}  // namespace quern
