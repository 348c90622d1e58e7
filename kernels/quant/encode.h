#pragma once

#include <cstddef>

// Writers of one block each, of the elements that the format's block holds: private to kernels.

namespace quern::kernels::encode {

void q4_0(const float* values, std::byte* block);
void q4_1(const float* values, std::byte* block);
void q5_0(const float* values, std::byte* block);
void q5_1(const float* values, std::byte* block);
void q8_0(const float* values, std::byte* block);
void q4K(const float* values, std::byte* block);
void q5K(const float* values, std::byte* block);
void q6K(const float* values, std::byte* block);

}  // namespace quern::kernels::encode
