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

/// Writes a block's own scales of 8 outputs: `file[o]` is the file's block of output o, and
/// `block[o]` part number `part` of it, decoded.
void packScales(PanelFormat format, std::span<const std::byte* const, 8> file,
                std::span<const IntBlock, 8> block, std::size_t part, std::byte* to);

/// Writes the scales that the blocks of a K format share.
void packHead(PanelFormat format, std::span<const std::byte* const, 8> file, std::byte* to);

/// Block `index` of output `lane` of a panel.
[[nodiscard]] IntBlock unpackBlock(PanelFormat format, const std::byte* panel, std::int64_t index,
                                   std::size_t lane);

}  // namespace quern::kernels::cpu
