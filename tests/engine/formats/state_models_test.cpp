// Layers that keep a state: what configs and keys say of them, and how their tensors are arranged.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "engine/formats/hf_parameters.h"
#include "engine/formats/state_tensors.h"

namespace quern::engine {
namespace {

Result<Hyperparameters> readConfig(const std::string& modelType, const std::string& fields) {
    auto json =
        parseJson(R"({"vocab_size":32,"hidden_size":64,"num_hidden_layers":4,)" + fields + "}",
                  "config.json");
    if (!json) {
        return forward(json);
    }
    return readHfParameters(*json, *architectureOfModelType(modelType), modelType, 100);
}

TEST(StateModels, Lfm2NamesItsLayersOfAttentionInTwoWays) {
    const std::string sizes = R"("num_attention_heads":4,"num_key_value_heads":2,)";
    const std::vector<bool> wanted{true, true, false, true};
    for (const char* layers :
         {R"("layer_types":["conv","conv","full_attention","conv"])", R"("full_attn_idxs":[2])"}) {
        const auto parameters =
            readConfig("lfm2", sizes + R"("intermediate_size":96,"conv_L_cache":3,)" + layers);
        ASSERT_TRUE(parameters.has_value()) << parameters.error().message;
        EXPECT_EQ(parameters->keepsState, wanted) << layers;
        EXPECT_EQ(std::get<ShortConvSpec>(parameters->state).rows, 3);
    }
    EXPECT_FALSE(readConfig("llama", sizes + R"("intermediate_size":96,"max_position_embeddings":9,
        "layer_types":["conv","conv","full_attention","conv"])")
                     .has_value())
        << "only where the architecture has such layers";
}

TEST(StateModels, Lfm2GivesTheWidthBeforeItIsGated) {
    const auto width = [](const std::string& fields) {
        const auto parameters =
            readConfig("lfm2", R"("num_attention_heads":4,"intermediate_size":96)" + fields);
        return parameters ? parameters->intermediate[0] : -1;
    };
    EXPECT_EQ(width(R"(,"block_multiple_of":16)"), 64);
    EXPECT_EQ(width(R"(,"block_multiple_of":60)"), 120);
    EXPECT_EQ(width(""), 256) << "whole multiples of 256";
    EXPECT_EQ(width(R"(,"block_ff_dim":12288)"), 8192);
    EXPECT_EQ(width(R"(,"block_ff_dim":100,"block_multiple_of":1)"), 66) << "rounded down";
    EXPECT_EQ(width(R"(,"block_multiple_of":1,"block_ffn_dim_multiplier":1.5)"), 96);
    EXPECT_EQ(width(R"(,"block_auto_adjust_ff_dim":false)"), 96);
    EXPECT_EQ(width(R"(,"block_multiple_of":0)"), -1);
}

TEST(StateModels, Mamba2HasNoAttention) {
    const auto parameters = readConfig(
        "mamba2", R"("num_heads":8,"head_dim":16,"state_size":5,"n_groups":2,"conv_kernel":4,
                     "time_step_limit":[0.01,{"__float__":"Infinity"}])");
    ASSERT_TRUE(parameters.has_value()) << parameters.error().message;
    EXPECT_EQ(parameters->keepsState, std::vector<bool>(4, true));
    EXPECT_FALSE(parameters->hasMlp);
    const auto& spec = std::get<Mamba2Spec>(parameters->state);
    EXPECT_EQ(spec.heads, 8);
    EXPECT_EQ(spec.headDim, 16);
    EXPECT_EQ(spec.stepMin, 0.01F);
    EXPECT_EQ(spec.stepMax, std::numeric_limits<float>::max());
    EXPECT_FALSE(readConfig("mamba2", R"("time_step_limit":[1])").has_value());
}

/// A tensor whose rows hold their own numbers.
void putRows(TensorTable& table, const std::string& name, std::int64_t rows, std::int64_t cols) {
    const auto bytes = static_cast<std::size_t>(rows * cols) * sizeof(float);
    const std::span<std::byte> memory = table.allocate(bytes);
    auto* values = reinterpret_cast<float*>(memory.data());
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        const std::int64_t row = i / cols;
        values[i] = static_cast<float>(row);
    }
    table.set(name, {.type = kernels::DType::kF32,
                     .shape = {.dims = {rows, cols, 1, 1}, .rank = 2},
                     .data = memory.data()});
}

std::vector<int> rowsOf(const TensorTable& table, const std::string& name) {
    std::vector<int> rows;
    const auto view = table.find(name);
    if (!view) {
        return rows;
    }
    const auto* values = reinterpret_cast<const float*>(view->data);
    const std::int64_t stride = view->shape.rank == 1 ? 1 : view->shape.cols();
    for (std::int64_t row = 0; row < view->shape.dims[0]; ++row) {
        rows.push_back(static_cast<int>(values[row * stride]));
    }
    return rows;
}

std::vector<int> range(int first, int count) {
    std::vector<int> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), first);
    return rows;
}

TEST(StateModels, DeltaNetsAreTakenApartByKeyHead) {
    const Hyperparameters parameters{
        .hiddenSize = 8,
        .keepsState = {true},
        .state =
            DeltaNetSpec{.rows = 4, .keyHeads = 2, .valueHeads = 4, .keyDim = 3, .valueDim = 2}};
    TensorTable table;
    // A key head: query 3, key 3, values 2·2, gates 2·2.
    putRows(table, "blk.0.ssm_in.weight", 28, 8);
    putRows(table, "blk.0.ssm_ba.weight", 8, 8);
    ASSERT_TRUE(arrangeState({}, parameters, table).has_value());
    EXPECT_EQ(
        rowsOf(table, "blk.0.ssm_qkv.weight"),
        (std::vector<int>{0, 1, 2, 14, 15, 16, 3, 4, 5, 17, 18, 19, 6, 7, 8, 9, 20, 21, 22, 23}));
    EXPECT_EQ(rowsOf(table, "blk.0.ssm_z.weight"),
              (std::vector<int>{10, 11, 12, 13, 24, 25, 26, 27}));
    EXPECT_EQ(rowsOf(table, "blk.0.ssm_beta.weight"), (std::vector<int>{0, 1, 4, 5}));
    EXPECT_EQ(rowsOf(table, "blk.0.ssm_alpha.weight"), (std::vector<int>{2, 3, 6, 7}));
    EXPECT_FALSE(table.has("blk.0.ssm_in.weight"));

    putRows(table, "blk.0.ssm_in.weight", 27, 8);
    EXPECT_FALSE(arrangeState({}, parameters, table).has_value()) << "a row is missing";
}

TEST(StateModels, Mamba2IsTakenApartByKind) {
    const Hyperparameters parameters{
        .hiddenSize = 8,
        .keepsState = {true},
        .state = Mamba2Spec{.rows = 4, .heads = 3, .headDim = 2, .stateSize = 5, .groups = 1}};
    TensorTable table;
    putRows(table, "blk.0.ssm_in.weight", 6 + 16 + 3, 8);
    putRows(table, "blk.0.ssm_a_log.weight", 1, 3);
    ASSERT_TRUE(arrangeState({}, parameters, table).has_value());
    EXPECT_EQ(rowsOf(table, "blk.0.ssm_z.weight"), range(0, 6));
    EXPECT_EQ(rowsOf(table, "blk.0.ssm_xbc.weight"), range(6, 16));
    EXPECT_EQ(rowsOf(table, "blk.0.ssm_dt_in.weight"), range(22, 3));
    EXPECT_EQ(rowsOf(table, "blk.0.ssm_a.weight"), (std::vector<int>{-1, -1, -1})) << "−e^0";
}

TEST(StateModels, QueriesComeWithTheirGates) {
    const Hyperparameters parameters{
        .hiddenSize = 8, .heads = {2}, .keepsState = {false}, .keyDim = 3, .valueDim = 3};
    TensorTable table;
    putRows(table, "blk.0.attn_q.weight", 12, 8);
    ASSERT_TRUE(arrangeState({.hasOutputGate = true}, parameters, table).has_value());
    EXPECT_EQ(rowsOf(table, "blk.0.attn_q.weight"), (std::vector<int>{0, 1, 2, 6, 7, 8}));
    EXPECT_EQ(rowsOf(table, "blk.0.attn_gate.weight"), (std::vector<int>{3, 4, 5, 9, 10, 11}));
}

TEST(StateModels, ABrokenStateIsRefusedBySize) {
    EXPECT_FALSE(checkState(ShortConvSpec{.rows = 1}, "").has_value());
    EXPECT_FALSE(checkState(ShortConvSpec{.rows = 65}, "").has_value());
    Mamba2Spec mamba{.rows = 4, .heads = 4, .headDim = 8, .stateSize = 8, .groups = 2};
    EXPECT_TRUE(checkState(mamba, "").has_value());
    mamba.groups = 3;
    EXPECT_FALSE(checkState(mamba, "").has_value());
    DeltaNetSpec net{.rows = 4, .keyHeads = 2, .valueHeads = 4, .keyDim = 8, .valueDim = 8};
    EXPECT_TRUE(checkState(net, "").has_value());
    net.valueHeads = 3;
    EXPECT_FALSE(checkState(net, "").has_value());
    net.valueHeads = 0;
    EXPECT_FALSE(checkState(net, "").has_value());
}

}  // namespace
}  // namespace quern::engine
