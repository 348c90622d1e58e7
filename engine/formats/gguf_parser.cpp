#include "engine/formats/gguf_parser.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "engine/formats/byte_cursor.h"
#include "engine/formats/gguf_types.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::DType;

static_assert(std::endian::native == std::endian::little, "files are mapped as they are");

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint32_t kDefaultAlignment = 32;
constexpr std::size_t kMaxKeyBytes = 65535;      // the specification's limit
constexpr std::size_t kMaxTensorNameBytes = 63;  // GGML keeps 64 with the terminator
constexpr std::uint32_t kMaxDims = 4;
// The least a key (one character and a u8) and a tensor (one character, one dimension) take.
constexpr std::uint64_t kMinEntryBytes = 8 + 1 + 4 + 1;
constexpr std::uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

tl::unexpected<Error> corrupt(std::string message) {
    return fail(ErrorCode::kCorrupt, std::move(message));
}

Result<std::uint32_t> readVersion(ByteCursor& cursor) {
    std::uint32_t magic = 0;
    if (!cursor.read(magic) || magic != kMagic) {
        return corrupt("magic: the file does not begin with 'GGUF'");
    }
    std::uint32_t version = 0;
    if (!cursor.read(version)) {
        return corrupt("version: the file ends before it");
    }
    if (version == 2 || version == 3) {
        return version;
    }
    if (version == 0) {
        return corrupt("version: 0 is not a GGUF version");
    }
    if (version == 1) {
        return fail(ErrorCode::kUnsupported,
                    "version: GGUF 1 is from before August 2023 and no longer read; versions 2 and "
                    "3 are. Download or convert the model again");
    }
    if ((version & 0xFFFFU) == 0) {
        return fail(ErrorCode::kUnsupported, "version: the file is big-endian (its version reads " +
                                                 std::to_string(version) +
                                                 "); only little-endian GGUF files are read");
    }
    return fail(ErrorCode::kUnsupported, "version: GGUF " + std::to_string(version) +
                                             " is not known; versions 2 and 3 are read");
}

// Reads the payload of `count` values of a type whose number was checked.
Result<GgufValue> readValues(ByteCursor& cursor, std::string_view key, GgufType type, bool isArray,
                             std::uint64_t count) {
    const auto tooLong = [&] {
        return corrupt("metadata key " + quotedName(key) + ": " + std::to_string(count) + " × " +
                       std::string(ggufTypeName(type)) + " do not fit in the " +
                       std::to_string(cursor.left()) + " bytes that are left of the file");
    };
    GgufValue value{.type = type, .isArray = isArray, .count = count, .bytes = {}};
    const std::size_t start = cursor.position();
    if (type == GgufType::kString) {
        if (count > cursor.left() / sizeof(std::uint64_t)) {
            return tooLong();
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            std::string_view text;
            if (!cursor.readString(text)) {
                return corrupt("metadata key " + quotedName(key) + ": string " + std::to_string(i) +
                               " is longer than the rest of the file");
            }
        }
        value.bytes = cursor.since(start);
        return value;
    }
    const std::size_t each = ggufTypeBytes(type);
    if (count > cursor.left() / each || !cursor.take(count * each, value.bytes)) {
        return tooLong();
    }
    return value;
}

Result<GgufType> readType(ByteCursor& cursor, std::string_view key) {
    std::uint32_t number = 0;
    if (!cursor.read(number)) {
        return corrupt("metadata key " + quotedName(key) + ": the file ends before its type");
    }
    if (number > static_cast<std::uint32_t>(GgufType::kF64)) {
        return corrupt("metadata key " + quotedName(key) + ": value type " +
                       std::to_string(number) + " is not one of 0 to 12");
    }
    return static_cast<GgufType>(number);
}

Result<GgufValue> readValue(ByteCursor& cursor, std::string_view key) {
    auto type = readType(cursor, key);
    if (!type) {
        return forward(type);
    }
    if (*type != GgufType::kArray) {
        return readValues(cursor, key, *type, false, 1);
    }
    auto elementType = readType(cursor, key);
    if (!elementType) {
        return forward(elementType);
    }
    if (*elementType == GgufType::kArray) {
        return fail(ErrorCode::kUnsupported,
                    "metadata key " + quotedName(key) + ": arrays of arrays are not read");
    }
    std::uint64_t count = 0;
    if (!cursor.read(count)) {
        return corrupt("metadata key " + quotedName(key) + ": the file ends before its count");
    }
    return readValues(cursor, key, *elementType, true, count);
}

Status readMetadata(ByteCursor& cursor, std::uint64_t count, GgufMetadata& metadata) {
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string_view key;
        if (!cursor.readString(key)) {
            return corrupt("metadata key number " + std::to_string(i) +
                           ": its length reaches beyond the end of the file");
        }
        if (key.empty() || key.size() > kMaxKeyBytes) {
            return corrupt("metadata key number " + std::to_string(i) + ": a key of " +
                           std::to_string(key.size()) + " bytes; 1 to 65535 are allowed");
        }
        auto value = readValue(cursor, key);
        if (!value) {
            return forward(value);
        }
        if (!metadata.add(key, *value)) {
            return corrupt("metadata key " + quotedName(key) + " is there twice");
        }
    }
    return {};
}

Result<std::uint64_t> readAlignment(const GgufMetadata& metadata) {
    const GgufValue* value = metadata.find("general.alignment");
    if (value == nullptr) {
        return kDefaultAlignment;
    }
    if (value->isArray || value->type != GgufType::kU32) {
        return corrupt("general.alignment is of type " + std::string(ggufTypeName(value->type)) +
                       "; u32 was expected");
    }
    std::uint32_t alignment = 0;
    std::memcpy(&alignment, value->bytes.data(), sizeof(alignment));
    if (!std::has_single_bit(alignment)) {
        return corrupt("general.alignment is " + std::to_string(alignment) +
                       "; a power of two was expected");
    }
    return alignment;
}

struct TensorEntry {
    GgufTensor tensor;
    std::uint64_t offset = 0;
};

Result<std::string_view> readTensorName(ByteCursor& cursor, std::uint64_t number) {
    std::string_view name;
    if (!cursor.readString(name)) {
        return corrupt("tensor number " + std::to_string(number) +
                       ": its name reaches beyond the end of the file");
    }
    if (name.empty() || name.size() > kMaxTensorNameBytes) {
        return corrupt("tensor number " + std::to_string(number) + ": a name of " +
                       std::to_string(name.size()) + " bytes; 1 to 63 are allowed");
    }
    return name;
}

Result<kernels::Shape> readShape(ByteCursor& cursor, std::string_view name) {
    std::uint32_t rank = 0;
    if (!cursor.read(rank)) {
        return corrupt("tensor " + quotedName(name) + ": the file ends before n_dims");
    }
    if (rank == 0 || rank > kMaxDims) {
        return corrupt("tensor " + quotedName(name) + ": n_dims is " + std::to_string(rank) +
                       "; 1 to 4 are allowed");
    }
    kernels::Shape shape;
    shape.rank = static_cast<int>(rank);
    std::int64_t elements = 1;
    for (std::uint32_t i = 0; i < rank; ++i) {
        std::uint64_t dim = 0;
        if (!cursor.read(dim)) {
            return corrupt("tensor " + quotedName(name) + ": the file ends before dimension " +
                           std::to_string(i));
        }
        if (dim == 0 ||
            dim > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return corrupt("tensor " + quotedName(name) + ": dimension " + std::to_string(i) +
                           " is " + std::to_string(dim) + "; 1 to 2^63 - 1 are allowed");
        }
        const auto signedDim = static_cast<std::int64_t>(dim);
        if (__builtin_mul_overflow(elements, signedDim, &elements)) {
            return corrupt("tensor " + quotedName(name) +
                           ": its dimensions multiply to more than 2^63 - 1 elements");
        }
        shape.dims[rank - 1 - i] = signedDim;
    }
    return shape;
}

Result<std::int64_t> tensorBytes(std::string_view name, DType type, const kernels::Shape& shape) {
    auto row = kernels::rowBytes(type, shape.cols());
    if (!row) {
        return corrupt("tensor " + quotedName(name) + ": " + row.error().message);
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(*row, shape.rows(), &bytes)) {
        return corrupt("tensor " + quotedName(name) + ": its size is more than 2^63 - 1 bytes");
    }
    return bytes;
}

Result<TensorEntry> readTensor(ByteCursor& cursor, std::uint64_t number, std::uint64_t alignment) {
    auto name = readTensorName(cursor, number);
    if (!name) {
        return forward(name);
    }
    auto shape = readShape(cursor, *name);
    if (!shape) {
        return forward(shape);
    }
    std::uint32_t ggmlType = 0;
    std::uint64_t offset = 0;
    if (!cursor.read(ggmlType) || !cursor.read(offset)) {
        return corrupt("tensor " + quotedName(*name) + ": the file ends before type and offset");
    }
    const auto type = dtypeOfGgml(ggmlType);
    if (!type) {
        constexpr std::uint32_t kHighestKnown = 64;
        return fail(ggmlType <= kHighestKnown ? ErrorCode::kUnsupported : ErrorCode::kCorrupt,
                    "tensor " + quotedName(*name) + ": GGML type " + std::to_string(ggmlType) +
                        " is not one that can be read");
    }
    auto bytes = tensorBytes(*name, *type, *shape);
    if (!bytes) {
        return forward(bytes);
    }
    if (offset % alignment != 0) {
        return corrupt("tensor " + quotedName(*name) + ": offset " + std::to_string(offset) +
                       " is not a multiple of the alignment " + std::to_string(alignment));
    }
    return TensorEntry{.tensor = {.name = *name,
                                  .view = {.type = *type, .shape = *shape, .data = nullptr},
                                  .bytes = *bytes},
                       .offset = offset};
}

// Gives every tensor its data, or says which one lies outside or on another.
Status placeTensors(std::vector<TensorEntry>& entries, std::span<const std::byte> data) {
    for (TensorEntry& entry : entries) {
        const auto bytes = static_cast<std::uint64_t>(entry.tensor.bytes);
        if (entry.offset > data.size() || bytes > data.size() - entry.offset) {
            return corrupt("tensor " + quotedName(entry.tensor.name) + ": " +
                           std::to_string(bytes) + " bytes at offset " +
                           std::to_string(entry.offset) + " reach beyond the file's " +
                           std::to_string(data.size()) + " bytes of tensor data (cut off?)");
        }
        entry.tensor.view.data = data.data() + entry.offset;
    }
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return entries[a].offset < entries[b].offset; });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const TensorEntry& before = entries[order[i - 1]];
        const TensorEntry& after = entries[order[i]];
        if (before.offset + static_cast<std::uint64_t>(before.tensor.bytes) > after.offset) {
            return corrupt("tensor " + quotedName(after.tensor.name) + ": offset " +
                           std::to_string(after.offset) + " lies inside tensor " +
                           quotedName(before.tensor.name));
        }
    }
    return {};
}

}  // namespace

Result<ParsedGguf> parseGguf(std::span<const std::byte> bytes) {
    ByteCursor cursor(bytes);
    auto version = readVersion(cursor);
    if (!version) {
        return forward(version);
    }
    std::uint64_t tensorCount = 0;
    std::uint64_t keyCount = 0;
    if (!cursor.read(tensorCount) || !cursor.read(keyCount)) {
        return corrupt("n_tensors, n_kv: the file ends before them");
    }
    if (keyCount > cursor.left() / kMinEntryBytes) {
        return corrupt("n_kv: " + std::to_string(keyCount) + " keys do not fit in the " +
                       std::to_string(cursor.left()) + " bytes that follow");
    }
    if (tensorCount > cursor.left() / kMinTensorBytes) {
        return corrupt("n_tensors: " + std::to_string(tensorCount) + " tensors do not fit in the " +
                       std::to_string(cursor.left()) + " bytes that follow");
    }
    ParsedGguf parsed;
    parsed.version = *version;
    if (auto status = readMetadata(cursor, keyCount, parsed.metadata); !status) {
        return forward(status);
    }
    auto alignment = readAlignment(parsed.metadata);
    if (!alignment) {
        return forward(alignment);
    }
    std::vector<TensorEntry> entries;
    std::unordered_set<std::string_view> names;
    for (std::uint64_t i = 0; i < tensorCount; ++i) {
        auto entry = readTensor(cursor, i, *alignment);
        if (!entry) {
            return forward(entry);
        }
        if (!names.insert(entry->tensor.name).second) {
            return corrupt("tensor " + quotedName(entry->tensor.name) + " is there twice");
        }
        entries.push_back(*entry);
    }
    const std::uint64_t past = cursor.position() % *alignment;
    const std::uint64_t padding = past == 0 ? 0 : *alignment - past;
    std::span<const std::byte> ignored;
    if (!entries.empty() && !cursor.take(padding, ignored)) {
        return corrupt("tensor data: the file ends inside the padding before it");
    }
    if (auto status = placeTensors(entries, bytes.subspan(cursor.position())); !status) {
        return forward(status);
    }
    parsed.tensors.reserve(entries.size());
    for (const TensorEntry& entry : entries) {
        parsed.tensors.push_back(entry.tensor);
    }
    return parsed;
}

}  // namespace quern::engine
