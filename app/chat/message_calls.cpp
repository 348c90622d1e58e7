#include "app/chat/message_calls.h"

#include <nlohmann/json.hpp>

namespace quern::app {

using nlohmann::json;

std::string callsToJson(const std::vector<MessageCall>& calls) {
    if (calls.empty()) {
        return {};
    }
    json list = json::array();
    for (const MessageCall& call : calls) {
        list.push_back({call.name, call.arguments});
    }
    // A model may write bytes that are no UTF-8; they must not keep a reply from being saved.
    return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<MessageCall> callsFromJson(const std::string& text) {
    std::vector<MessageCall> calls;
    const json list = json::parse(text, nullptr, false);
    if (!list.is_array()) {
        return calls;
    }
    for (const json& call : list) {
        if (call.is_array() && call.size() == 2 && call[0].is_string() && call[1].is_string()) {
            calls.push_back(
                {.name = call[0].get<std::string>(), .arguments = call[1].get<std::string>()});
        }
    }
    return calls;
}

}  // namespace quern::app
