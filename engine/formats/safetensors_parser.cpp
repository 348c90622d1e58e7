#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "engine/formats/byte_cursor.h"
#include "engine/formats/gguf_metadata.h"
#include "engine/formats/safetensors.h"

namespace quern::engine {

namespace {

using kernels::DType;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the reference implementation's limit
constexpr std::size_t kMaxDims = 4;

struct FileType {
    std::string_view name;
    std::uint64_t bits;
    std::optional<DType> type;
};

constexpr std::array<FileType, 19> kFileTypes{{{"F32", 32, DType::kF32},
                                               {"F16", 16, DType::kF16},
                                               {"BF16", 16, DType::kBF16},
                                               {"F8_E4M3", 8, DType::kF8E4M3},
                                               {"F8_E5M2", 8, DType::kF8E5M2},
                                               {"I8", 8, DType::kI8},
                                               {"I32", 32, DType::kI32},
                                               {"BOOL", 8, std::nullopt},
                                               {"U8", 8, std::nullopt},
                                               {"F8_E8M0", 8, std::nullopt},
                                               {"F4", 4, std::nullopt},
                                               {"I16", 16, std::nullopt},
                                               {"U16", 16, std::nullopt},
                                               {"U32", 32, std::nullopt},
                                               {"F64", 64, std::nullopt},
                                               {"I64", 64, std::nullopt},
                                               {"U64", 64, std::nullopt},
                                               {"C64", 64, std::nullopt},
                                               {"F6", 6, std::nullopt}}};

struct HeaderTensor {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::vector<std::uint64_t> offsets;
    bool hasDtype = false;
    bool hasShape = false;
    bool hasOffsets = false;
};

// Takes the header's exact structure and nothing else, event by event: a hostile header is refused
// at the first wrong event, before anything is built from it.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
    std::vector<HeaderTensor> tensors;
    std::string error;

    bool null() override { return unexpected("null"); }
    bool boolean(bool) override { return unexpected("a boolean"); }
    bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
    bool number_float(number_float_t, const string_t&) override { return unexpected("a float"); }
    bool binary(binary_t&) override { return unexpected("binary data"); }

    bool number_unsigned(number_unsigned_t value) override {
        if (m_place != Place::kShape && m_place != Place::kOffsets) {
            return unexpected("a number");
        }
        auto& list = m_place == Place::kShape ? tensors.back().shape : tensors.back().offsets;
        list.push_back(value);
        return true;
    }

    bool string(string_t& value) override {
        if (m_place == Place::kMetadata) {
            return true;
        }
        if (m_place != Place::kTensor || m_key != "dtype" || tensors.back().hasDtype) {
            return unexpected("a string");
        }
        tensors.back().dtype = value;
        tensors.back().hasDtype = true;
        return true;
    }

    bool start_object(std::size_t) override {
        if (m_place == Place::kOutside) {
            m_place = Place::kTop;
            return true;
        }
        if (m_place != Place::kTop) {
            return unexpected("an object");
        }
        if (!m_names.insert(m_key).second) {
            error = "tensor " + quotedName(m_key) + " is there twice";
            return false;
        }
        m_place = m_key == "__metadata__" ? Place::kMetadata : Place::kTensor;
        if (m_place == Place::kTensor) {
            tensors.emplace_back().name = m_key;
        }
        return true;
    }

    bool key(string_t& value) override {
        m_key = value;
        return true;
    }

    bool end_object() override {
        if (m_place == Place::kTensor) {
            const HeaderTensor& tensor = tensors.back();
            const char* missing = !tensor.hasDtype     ? "dtype"
                                  : !tensor.hasShape   ? "shape"
                                  : !tensor.hasOffsets ? "data_offsets"
                                                       : nullptr;
            if (missing != nullptr) {
                error = "tensor " + quotedName(tensor.name) + " has no " + missing;
                return false;
            }
        }
        m_place = m_place == Place::kTop ? Place::kDone : Place::kTop;
        return true;
    }

    bool start_array(std::size_t) override {
        if (m_place != Place::kTensor) {
            return unexpected("an array");
        }
        HeaderTensor& tensor = tensors.back();
        if (m_key == "shape" && !tensor.hasShape) {
            tensor.hasShape = true;
            m_place = Place::kShape;
            return true;
        }
        if (m_key == "data_offsets" && !tensor.hasOffsets) {
            tensor.hasOffsets = true;
            m_place = Place::kOffsets;
            return true;
        }
        return unexpected("an array");
    }

    bool end_array() override {
        m_place = Place::kTensor;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::json::exception&) override {
        if (error.empty()) {
            error = "it is not JSON at byte " + std::to_string(position);
        }
        return false;
    }

private:
    enum class Place { kOutside, kTop, kMetadata, kTensor, kShape, kOffsets, kDone };

    bool unexpected(const char* what) {
        error = std::string(what) + " stands where none belongs, after key " + quotedName(m_key);
        return false;
    }

    Place m_place = Place::kOutside;
    std::string m_key;
    std::unordered_set<std::string> m_names;
};

tl::unexpected<Error> corrupt(std::string message) {
    return fail(ErrorCode::kCorrupt, std::move(message));
}

Result<std::span<const std::byte>> readHeader(ByteCursor& cursor) {
    std::uint64_t length = 0;
    if (!cursor.read(length)) {
        return corrupt("header length: the file ends before it");
    }
    std::span<const std::byte> header;
    if (length > kMaxHeaderBytes || !cursor.take(length, header)) {
        return corrupt("header length: " + std::to_string(length) + " bytes; the file has " +
                       std::to_string(cursor.left()) + " after it and at most " +
                       std::to_string(kMaxHeaderBytes) + " are allowed");
    }
    return header;
}

// The bits of all elements, or nothing when that overflows.
std::optional<std::uint64_t> totalBits(const std::vector<std::uint64_t>& shape,
                                       std::uint64_t bits) {
    std::uint64_t total = bits;
    for (const std::uint64_t dim : shape) {
        if (__builtin_mul_overflow(total, dim, &total) ||
            total > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return std::nullopt;
        }
    }
    return total;
}

Result<SafetensorsEntry> readEntry(HeaderTensor& tensor, std::span<const std::byte> data) {
    const std::string at = "tensor " + quotedName(tensor.name) + ": ";
    const auto* fileType = std::find_if(kFileTypes.begin(), kFileTypes.end(),
                                        [&](const FileType& t) { return t.name == tensor.dtype; });
    if (fileType == kFileTypes.end()) {
        return fail(ErrorCode::kUnsupported, at + "dtype " + quotedName(tensor.dtype) +
                                                 " is not known; F32, F16, BF16, F8_E4M3 and "
                                                 "F8_E5M2 are");
    }
    if (std::find(tensor.shape.begin(), tensor.shape.end(), 0U) != tensor.shape.end()) {
        return corrupt(at + "shape: a dimension is 0");
    }
    const auto bits = totalBits(tensor.shape, fileType->bits);
    if (!bits) {
        return corrupt(at + "shape: its dimensions multiply to more than 2^63 - 1 bits");
    }
    if (tensor.offsets.size() != 2 || tensor.offsets[0] > tensor.offsets[1] ||
        tensor.offsets[1] > data.size()) {
        const auto text = [&](std::size_t i) {
            return i < tensor.offsets.size() ? std::to_string(tensor.offsets[i]) : "none";
        };
        return corrupt(at + "data_offsets: from " + text(0) + " to " + text(1) +
                       " is no range in the file's " + std::to_string(data.size()) +
                       " bytes of data (cut off?)");
    }
    const std::uint64_t bytes = tensor.offsets[1] - tensor.offsets[0];
    if (*bits % 8 != 0 || *bits / 8 != bytes) {
        return corrupt(at + "data_offsets: " + std::to_string(bytes) + " bytes, but dtype " +
                       tensor.dtype + " and shape make " + std::to_string(*bits / 8));
    }
    SafetensorsEntry entry{.name = std::move(tensor.name),
                           .dtype = tensor.dtype,
                           .type = fileType->type,
                           .shape = {},
                           .data = data.subspan(tensor.offsets[0], bytes)};
    if (tensor.shape.size() > kMaxDims) {
        entry.type.reset();
        return entry;
    }
    entry.shape.rank = static_cast<int>(tensor.shape.size());
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        entry.shape.dims[i] = static_cast<std::int64_t>(tensor.shape[i]);
    }
    return entry;
}

// The format wants every byte of the data to be one tensor's: what lies between could be anything.
Status checkCoverage(const std::vector<SafetensorsEntry>& entries,
                     std::span<const std::byte> data) {
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return entries[a].data.data() < entries[b].data.data();
    });
    const std::byte* end = data.data();
    const SafetensorsEntry* before = nullptr;
    for (const std::size_t i : order) {
        const SafetensorsEntry& entry = entries[i];
        if (entry.data.data() < end) {
            return corrupt("tensor " + quotedName(entry.name) +
                           ": data_offsets: they lie inside tensor " + quotedName(before->name));
        }
        if (entry.data.data() > end) {
            return corrupt("tensor " + quotedName(entry.name) + ": data_offsets: the " +
                           std::to_string(entry.data.data() - end) +
                           " bytes before it belong to no tensor");
        }
        end += entry.data.size();
        before = &entry;
    }
    if (end != data.data() + data.size()) {
        return corrupt("data: the last " + std::to_string(data.data() + data.size() - end) +
                       " bytes of the file belong to no tensor");
    }
    return {};
}

}  // namespace

Result<std::vector<SafetensorsEntry>> parseSafetensors(std::span<const std::byte> bytes) {
    ByteCursor cursor(bytes);
    auto header = readHeader(cursor);
    if (!header) {
        return forward(header);
    }
    HeaderReader reader;
    const auto* text = reinterpret_cast<const char*>(header->data());
    bool isRead = false;
    try {
        isRead = nlohmann::json::sax_parse(text, text + header->size(), &reader);
    } catch (const nlohmann::json::exception& error) {
        return fail(ErrorCode::kCorrupt, "header: it is not JSON", error.what());
    }
    if (!isRead) {
        return corrupt("header: " + reader.error);
    }
    const std::span<const std::byte> data = bytes.subspan(cursor.position());
    std::vector<SafetensorsEntry> entries;
    entries.reserve(reader.tensors.size());
    for (HeaderTensor& tensor : reader.tensors) {
        auto entry = readEntry(tensor, data);
        if (!entry) {
            return forward(entry);
        }
        entries.push_back(std::move(*entry));
    }
    if (auto status = checkCoverage(entries, data); !status) {
        return forward(status);
    }
    return entries;
}

}  // namespace quern::engine
