#pragma once

#include "kernels/cpu/step.h"

namespace quern::kernels::cpu {

/// Adapters on the rows of a matrix stage. What a row has is scale · (A · in), computed when its
/// inputs are there, for all matrices of the stage; B adds it to a tile of results. A row's bits
/// depend on the row and its adapter alone, and rows without one are not touched.

/// Notes which adapters a step has and makes room for what its rows have. Grows, never shrinks;
/// called before the workers start.
[[nodiscard]] Status prepareAdapters(StepContext& step);

/// Whether any row of the step may have something in this stage: the same on every worker.
[[nodiscard]] bool hasLowRank(const Stage& stage, const StepContext& step);

/// A · in of one row, for all matrices of the stage. Where all workers have the row (isRepeating),
/// each computes its share of it.
void projectRow(const Stage& stage, const Worker& worker, const float* in, std::int64_t row);

/// Adds B's part to rows [firstRow, lastRow) × columns [begin, end) of a matrix's results.
void addLowRank(const MatMulStep& matrix, Rows rows, const Worker& worker, std::int64_t firstRow,
                std::int64_t lastRow, std::int64_t begin, std::int64_t end);

}  // namespace quern::kernels::cpu
