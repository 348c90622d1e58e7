#include "engine/model/score_rows.h"

namespace quern::engine {

kernels::ValueId scoreRows(PassBuilder& pass, const ScoreHead& head, std::int64_t hidden,
                           kernels::ValueId x) {
    if (head.hasDense) {
        const kernels::ValueId dense = pass.linear("score.dense", x, "cls", hidden);
        x = pass.value("score.act", dense, hidden);
        pass.emit("score.act",
                  kernels::ActivationOp{.in = dense, .out = x, .kind = head.activation});
    }
    if (head.hasNorm) {
        x = pass.norm("score.norm", x, "cls.norm");
    }
    return pass.linear("score", x, "cls.output", head.outputs);
}

}  // namespace quern::engine
