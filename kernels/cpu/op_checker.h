#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ops.h"
#include "kernels/result.h"

namespace quern::kernels::cpu {

inline constexpr std::int64_t kMaxCols = std::int64_t{1} << 31;

/// What is known of an op list while its ops are checked in order. The first thing wrong sticks;
/// later checks then do nothing. One thread; borrows the list.
class OpChecker {
public:
    explicit OpChecker(const OpList& ops) : m_ops(ops), m_isWritten(ops.values.size(), false) {}

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    [[nodiscard]] const OpList& list() const { return m_ops; }
    /// Null: what follows is of the list as a whole.
    void setOp(const Op* op) { m_op = op; }

    static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }
    const Value& value(ValueId id) const { return m_ops.values[index(id)]; }
    const Weight& weight(WeightId id) const { return m_ops.weights[index(id)]; }

    void wrong(const std::string& what) {
        if (!m_error) {
            const std::string where = m_op == nullptr ? "op list: " : "op '" + m_op->name + "': ";
            m_error = Error{.code = ErrorCode::kInvalidArgument, .message = where + what};
        }
    }
    void require(bool isTrue, const std::string& what) {
        if (!isTrue) {
            wrong(what);
        }
    }
    bool isValue(ValueId id, const char* role) {
        const bool isGood = id >= 0 && index(id) < m_ops.values.size();
        require(isGood, std::string(role) + " is value " + std::to_string(id) + " of " +
                            std::to_string(static_cast<std::int64_t>(m_ops.values.size())));
        return isGood && !m_error;
    }
    bool isWeight(WeightId id, const char* role) {
        const bool isGood = id >= 0 && index(id) < m_ops.weights.size();
        require(isGood, std::string(role) + " is weight " + std::to_string(id) + " of " +
                            std::to_string(static_cast<std::int64_t>(m_ops.weights.size())));
        return isGood && !m_error;
    }

    std::string shape(ValueId id) const {
        const Value& v = value(id);
        return "'" + v.name + "' [" + (v.rows == Rows::kTokens ? "T" : "R") + ", " +
               std::to_string(v.cols) + "]";
    }
    std::string weightShape(WeightId id) const {
        const Weight& w = weight(id);
        return "'" + w.name + "' [" + std::to_string(w.rows) + ", " + std::to_string(w.cols) + "]";
    }

    bool reads(ValueId id, const char* role) {
        if (!isValue(id, role)) {
            return false;
        }
        require(m_isWritten[index(id)],
                std::string(role) + " " + shape(id) + " is read before it is written");
        return !m_error;
    }
    /// `inPlace`: the id that the op may write a second time.
    bool writes(ValueId id, ValueId inPlace = kNone) {
        if (!isValue(id, "out")) {
            return false;
        }
        require(!m_isWritten[index(id)] || id == inPlace,
                "out " + shape(id) + " is written a second time");
        m_isWritten[index(id)] = true;
        return !m_error;
    }
    void sameShape(ValueId a, ValueId b) {
        require(value(a).rows == value(b).rows && value(a).cols == value(b).cols,
                shape(a) + " and " + shape(b) + " must have the same shape");
    }
    void hasCols(ValueId id, std::int64_t cols, const std::string& why) {
        require(value(id).cols == cols,
                shape(id) + " must have " + std::to_string(cols) + " columns: " + why);
    }
    void hasTokens(ValueId id) {
        require(value(id).rows == Rows::kTokens, shape(id) + " must have rows T");
    }
    void isVector(WeightId id, const char* role, std::int64_t elements,
                  std::int64_t otherElements) {
        if (isWeight(id, role)) {
            const std::int64_t count = weight(id).rows * weight(id).cols;
            require(count == elements || count == otherElements,
                    std::string(role) + " " + weightShape(id) + " must have " +
                        std::to_string(elements) + " elements");
        }
    }
    void isFinite(float x, const char* what) {
        require(std::isfinite(x), std::string(what) + " is not a finite number");
    }
    [[nodiscard]] bool isWritten(ValueId id) const { return m_isWritten[index(id)]; }

private:
    const OpList& m_ops;
    const Op* m_op = nullptr;
    std::vector<bool> m_isWritten;
    std::optional<Error> m_error;
};

/// Each family of ops whose checks stand in a file of their own.
void checkOp(OpChecker& checker, const RouteOp& op);
void checkOp(OpChecker& checker, const GroupedMatMulOp& op);
void checkOp(OpChecker& checker, const SumSlotsOp& op);
void checkOp(OpChecker& checker, const GateRowsOp& op);
void checkOp(OpChecker& checker, const ClampedGluOp& op);
void checkOp(OpChecker& checker, const JoinHeadsOp& op);

}  // namespace quern::kernels::cpu
