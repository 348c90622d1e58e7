#pragma once

#include "engine/core/adapter_slots.h"
#include "engine/core/model_loader.h"

namespace quern::engine {

/// Reads an adapter and takes it over for the model of `maker`. What it takes is promised in
/// `ledger`, which must outlive it, for as long as the handover's lease lives. `options` name it
/// and its model. Errors as Engine::loadAdapter. Any thread.
[[nodiscard]] Result<AdapterHandover> makeAdapter(const AdapterMaker& maker,
                                                  const AdapterOptions& options, std::uint64_t id,
                                                  const ModelFactory& factory,
                                                  MemoryLedger& ledger);

/// Refuses names (kInvalidArgument, field lora_name) that are empty, longer than 256 bytes or that
/// no line of text could hold: they go into lists, messages and metrics.
[[nodiscard]] Status checkAdapterName(const std::string& name);

}  // namespace quern::engine
