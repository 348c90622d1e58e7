#include "app/server/openai/json_body.h"

#include <cstdint>
#include <vector>

namespace quern::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kDeepest = 200;
// Of two names, in the whole body: one object of 8000 members, or many smaller ones.
constexpr std::uint64_t kMostComparisons = 32'000'000;

/// Reads a text and keeps nothing of it but how deep and how wide it is.
class ShapeReader : public nlohmann::json_sax<Json> {
public:
    [[nodiscard]] const std::string& trouble() const { return m_trouble; }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return open(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t&) override {
        m_comparisons += m_members.back()++;
        if (m_comparisons > kMostComparisons) {
            m_trouble =
                "an object of the body has too many members: " + std::to_string(m_members.back()) +
                " so far";
            return false;
        }
        return true;
    }
    bool parse_error(std::size_t byte, const std::string&,
                     const nlohmann::detail::exception&) override {
        m_trouble = "the body is not valid JSON, at byte " + std::to_string(byte);
        return false;
    }

private:
    bool open() {
        m_members.push_back(0);
        if (m_members.size() > kDeepest) {
            m_trouble = "the body is nested more than " + std::to_string(kDeepest) + " levels deep";
            return false;
        }
        return true;
    }
    bool close() {
        m_members.pop_back();
        return true;
    }

    std::vector<std::uint64_t> m_members;  // of each object and list that is open
    std::uint64_t m_comparisons = 0;
    std::string m_trouble;
};

}  // namespace

tl::expected<Json, ApiError> parseBody(const std::string& body) {
    const auto refuse = [](std::string message) {
        return tl::unexpected(ApiError{.status = 400, .message = std::move(message)});
    };
    ShapeReader shape;
    if (!Json::sax_parse(body, &shape)) {
        return refuse(shape.trouble());
    }
    Json json = Json::parse(body, nullptr, false);
    if (!json.is_object()) {
        return refuse("the body must be a JSON object");
    }
    return json;
}

}  // namespace quern::app
