#include "engine/core/adapter_loader.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "engine/core/byte_text.h"
#include "engine/metrics/process_memory.h"

namespace quern::engine {

namespace {

Result<AdapterHandover> makeChecked(const AdapterMaker& maker, const AdapterOptions& options,
                                    std::uint64_t id, const ModelFactory& factory,
                                    MemoryLedger& ledger) {
    auto info = inspectAdapter(options.path);
    if (!info) {
        return forward(info);
    }
    const std::int64_t free = ledger.available(factory.memory(), residentBytes());
    if (info->bytes > free) {
        return fail(ErrorCode::kOutOfMemory,
                    "adapter " + options.name + " needs " + byteText(info->bytes) + ", " +
                        byteText(std::max<std::int64_t>(0, free)) + " are free");
    }
    const std::string key = options.name + " " + std::to_string(id);
    ledger.set(key, info->bytes);
    std::shared_ptr<void> lease(&ledger, [key](MemoryLedger* promised) { promised->set(key, 0); });
    auto made = maker.make(options.path);
    if (!made) {
        return forward(made);
    }
    ledger.set(key, made->adapter->bytes());  // padded to whole panels
    auto adapter =
        std::make_shared<LoadedAdapter>(LoadedAdapter{.name = options.name,
                                                      .model = options.model,
                                                      .info = std::move(made->info),
                                                      .heldBytes = made->adapter->bytes(),
                                                      .id = id});
    return AdapterHandover{.adapter = std::move(adapter),
                           .program = std::move(made->adapter),
                           .lease = std::move(lease)};
}

}  // namespace

Result<AdapterHandover> makeAdapter(const AdapterMaker& maker, const AdapterOptions& options,
                                    std::uint64_t id, const ModelFactory& factory,
                                    MemoryLedger& ledger) {
    try {
        return makeChecked(maker, options, id, factory, ledger);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::kOutOfMemory,
                    "memory ran out while adapter " + options.name + " loaded");
    } catch (const std::exception& exception) {
        return fail(ErrorCode::kInternal, "loading adapter " + options.name + " failed",
                    exception.what());
    }
}

Status checkAdapterName(const std::string& name) {
    constexpr std::size_t kMostBytes = 256;
    if (name.empty()) {
        return failField("lora_name", "no adapter was named");
    }
    if (name.size() > kMostBytes) {
        return failField("lora_name", "the adapter's name is " + std::to_string(name.size()) +
                                          " bytes long; at most " + std::to_string(kMostBytes) +
                                          " are allowed");
    }
    const auto isControl = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
    if (std::ranges::any_of(name, isControl)) {
        return failField("lora_name", "the adapter's name has a control character");
    }
    return {};
}

}  // namespace quern::engine
