#pragma once

#include <cstddef>

// Writers of one block each, of the elements that the format's block holds: private to kernels.

namespace quern::kernels::encode {

void q4_0(const float* values, std::byte* block);
void q4_1(const float* values, std::byte* block);
void q5_0(const float* values, std::byte* block);
void q5_1(const float* values, std::byte* block);
void q8_0(const float* values, std::byte* block);

using BlockWriter = void (*)(const float* values, std::byte* block);

/// The K formats are searched for, which takes long: one set of writers a tier. All write the same
/// bytes.
struct KWriters {
    BlockWriter q4K;
    BlockWriter q5K;
    BlockWriter q6K;
};
namespace generic {
const KWriters& kWriters();
}
namespace avx2 {
const KWriters& kWriters();
}
/// The fastest that run here.
const KWriters& kWriters();

}  // namespace quern::kernels::encode
