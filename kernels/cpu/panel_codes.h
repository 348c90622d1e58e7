#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "kernels/cpu/panels.h"
#include "kernels/quant/int_block.h"

// Moving blocks into panels and back: private to kernels/cpu. Not fast; runs once a weight.

namespace quern::kernels::cpu {

/// Writes the codes of one block of 8 outputs; `to` is zeroed.
void packCodes(PanelFormat format, std::span<const IntBlock, 8> block, std::byte* to);

/// Writes the scales of one record of 8 outputs: `blocks[o]` is the file's block of output o, and
/// `parts` [8][groupBlocks] the same decoded.
void packScales(PanelFormat format, std::span<const std::byte* const, 8> blocks,
                std::span<const IntBlock> parts, std::byte* to);

/// Block `index` of output `lane` of a panel.
[[nodiscard]] IntBlock unpackBlock(PanelFormat format, const std::byte* scales,
                                   const std::byte* codes, std::int64_t index, std::size_t lane);

}  // namespace quern::kernels::cpu
