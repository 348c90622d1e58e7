#include <cmath>
#include <string>

#include "kernels/cpu/op_checker.h"

namespace quern::kernels::cpu {

namespace {

// Indices of choices are kept as float32 and entries of rows as int32.
constexpr std::int64_t kMostChoices = 1 << 16;

void sameRows(OpChecker& c, ValueId a, ValueId b) {
    c.require(c.value(a).rows == c.value(b).rows,
              c.shape(a) + " and " + c.shape(b) + " must have the same rows");
}

// How many choices a routing chooses from; 0 where it is not the result of a RouteOp.
std::int64_t choicesOf(const OpChecker& c, ValueId routing) {
    for (const Op& op : c.list().ops) {
        const auto* route = std::get_if<RouteOp>(&op.op);
        if (route != nullptr && route->out == routing) {
            return c.value(route->logits).cols;
        }
    }
    return 0;
}

}  // namespace

void checkOp(OpChecker& c, const RouteOp& op) {
    if (!c.reads(op.logits, "logits") || !c.writes(op.out)) {
        return;
    }
    const std::int64_t choices = c.value(op.logits).cols;
    sameRows(c, op.logits, op.out);
    c.require(choices <= kMostChoices, std::to_string(choices) + " choices; " +
                                           std::to_string(kMostChoices) + " are allowed");
    c.require(op.used >= 1 && op.used <= choices,
              "used is " + std::to_string(op.used) + " of " + std::to_string(choices) + " choices");
    c.hasCols(op.out, 2 * op.used, std::to_string(op.used) + " choices and their shares");
    c.require(op.groups >= 1 && choices % op.groups == 0, std::to_string(op.groups) +
                                                              " groups do not divide " +
                                                              std::to_string(choices) + " choices");
    c.require(op.groupsUsed >= 1 && op.groupsUsed <= op.groups,
              "groupsUsed is " + std::to_string(op.groupsUsed) + " of " +
                  std::to_string(op.groups) + " groups");
    if (!c.error()) {
        const std::int64_t left = choices / op.groups * op.groupsUsed;
        c.require(op.used <= left, "used is " + std::to_string(op.used) + " of the " +
                                       std::to_string(left) + " choices that the groups leave");
    }
    if (op.bias != kNone) {
        c.isVector(op.bias, "bias", choices, choices);
    }
    c.isFinite(op.scale, "scale");
}

void checkOp(OpChecker& c, const GroupedMatMulOp& op) {
    const auto matrices = static_cast<std::int64_t>(op.weights.size());
    c.require(matrices >= 1 && matrices <= kMostChoices,
              std::to_string(matrices) + " matrices; 1 to " + std::to_string(kMostChoices) +
                  " are allowed");
    if (c.error() || !c.reads(op.in, "in") || !c.isWeight(op.weights.front(), "weight") ||
        (op.routing != kNone && !c.reads(op.routing, "routing")) || !c.writes(op.out)) {
        return;
    }
    const Weight& first = c.weight(op.weights.front());
    for (const WeightId id : op.weights) {
        if (!c.isWeight(id, "weight")) {
            return;
        }
        const Weight& w = c.weight(id);
        c.require(w.rows == first.rows && w.cols == first.cols && w.type == first.type,
                  "weights " + c.weightShape(op.weights.front()) + " and " + c.weightShape(id) +
                      " must have the same shape and type");
    }
    sameRows(c, op.in, op.out);
    std::int64_t slots = matrices;
    if (op.routing != kNone) {
        sameRows(c, op.in, op.routing);
        slots = c.value(op.routing).cols / 2;
        c.require(choicesOf(c, op.routing) == matrices,
                  "routing " + c.shape(op.routing) + " must choose from " +
                      std::to_string(matrices) + " matrices, not " +
                      std::to_string(choicesOf(c, op.routing)));
    }
    c.hasCols(op.out, slots * first.rows,
              std::to_string(slots) + " slots of " + c.weightShape(op.weights.front()));
    c.require(c.value(op.in).cols == first.cols || c.value(op.in).cols == slots * first.cols,
              "in " + c.shape(op.in) + " must have the columns of " +
                  c.weightShape(op.weights.front()) + " once or for each of " +
                  std::to_string(slots) + " slots");
    if (op.bias != kNone) {
        c.isVector(op.bias, "bias", matrices * first.rows, matrices * first.rows);
    }
}

void checkOp(OpChecker& c, const SumSlotsOp& op) {
    if (c.reads(op.in, "in") && c.reads(op.routing, "routing") && c.writes(op.out)) {
        sameRows(c, op.in, op.out);
        sameRows(c, op.routing, op.out);
        c.require(choicesOf(c, op.routing) > 0,
                  c.shape(op.routing) + " is not the result of a RouteOp");
        c.hasCols(op.in, c.value(op.routing).cols / 2 * c.value(op.out).cols,
                  "one part a choice of " + c.shape(op.routing));
    }
}

void checkOp(OpChecker& c, const GateRowsOp& op) {
    if (c.reads(op.in, "in") && c.reads(op.gate, "gate") && c.writes(op.out, op.in)) {
        c.sameShape(op.in, op.out);
        sameRows(c, op.in, op.gate);
        c.hasCols(op.gate, 1, "one gate a row");
    }
}

void checkOp(OpChecker& c, const ClampedGluOp& op) {
    if (c.reads(op.gate, "gate") && c.reads(op.up, "up") && c.writes(op.out, op.gate)) {
        c.sameShape(op.gate, op.up);
        c.sameShape(op.gate, op.out);
        c.isFinite(op.alpha, "alpha");
        c.require(std::isfinite(op.limit) && op.limit > 0.0F,
                  "limit must be a finite number above 0");
    }
}

void checkOp(OpChecker& c, const JoinHeadsOp& op) {
    c.require(op.heads >= 1 && op.heads <= kMaxCols, std::to_string(op.heads) + " heads");
    if (c.error() || !c.reads(op.a.value, "a") ||
        (op.b.value != kNone && !c.reads(op.b.value, "b")) || !c.writes(op.out)) {
        return;
    }
    c.require(op.b.value != kNone || op.b.count == 0,
              std::to_string(op.b.count) + " columns of a value that is not there");
    for (const HeadColumns& part : {op.a, op.b}) {
        if (part.value == kNone) {
            continue;
        }
        sameRows(c, part.value, op.out);
        const std::int64_t cols = c.value(part.value).cols / op.heads;
        c.require(c.value(part.value).cols % op.heads == 0 && part.count >= 1 && part.first >= 0 &&
                      part.count <= cols && part.first <= cols - part.count,
                  "columns from " + std::to_string(part.first) + ", " + std::to_string(part.count) +
                      " of " + std::to_string(op.heads) + " heads of " + c.shape(part.value));
    }
    if (!c.error()) {
        c.hasCols(op.out, op.heads * (op.a.count + op.b.count),
                  std::to_string(op.heads) + " heads of both parts");
    }
}

}  // namespace quern::kernels::cpu
