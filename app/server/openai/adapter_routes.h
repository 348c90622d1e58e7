#pragma once

#include <string>

#include "app/server/http/http_message.h"
#include "engine/engine.h"

namespace quern::app {

/// POST /v1/load_lora_adapter and /v1/unload_lora_adapter, with vLLM's bodies: lora_name and
/// lora_path (a folder or file of this machine); base_model_name says which model where several are
/// loaded. The answer to a success is a sentence. Loading takes as long as the file is large: not
/// for the I/O thread.
[[nodiscard]] HttpResponse loadLoraAdapter(engine::Engine& engine, const std::string& body);
[[nodiscard]] HttpResponse unloadLoraAdapter(engine::Engine& engine, const std::string& body);

}  // namespace quern::app
