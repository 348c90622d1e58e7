// The generic tier's row-wise ops and attention. Standard headers come before the target pragma, so
// that no inline function of theirs is compiled for instructions that other tiers lack.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/tier_kernels.h"

#define QUERN_INLINE inline __attribute__((always_inline))
#define QUERN_LAMBDA __attribute__((always_inline))

namespace quern::kernels::cpu::generic {

namespace {

#include "kernels/cpu/tier/vec_generic.inl.h"
//
#include "kernels/cpu/tier/math.inl.h"
//
#include "kernels/cpu/tier/rows.inl.h"
//
#include "kernels/cpu/tier/routing.inl.h"
//
#include "kernels/cpu/tier/attention.inl.h"
//
#include "kernels/cpu/tier/scans.inl.h"

}  // namespace

#include "kernels/cpu/tier/table.inl.h"

}  // namespace quern::kernels::cpu::generic
