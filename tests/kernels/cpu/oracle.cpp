#include "tests/kernels/cpu/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quern::kernels::test {

namespace {

using Matrix = std::vector<double>;

std::size_t index(std::int64_t id) {
    return static_cast<std::size_t>(id);
}

double activationOf(Activation kind, double x) {
    switch (kind) {
        case Activation::kSilu:
            return x / (1.0 + std::exp(-x));
        case Activation::kGelu:
            return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
        case Activation::kGeluTanh:
            return 0.5 * x *
                   (1.0 + std::tanh(std::sqrt(2.0 / 3.14159265358979323846) *
                                    (x + 0.044715 * x * x * x)));
        case Activation::kRelu:
            return std::max(x, 0.0);
        case Activation::kRelu2:
            return std::max(x, 0.0) * std::max(x, 0.0);
    }
    return x;
}

class Oracle {
public:
    Oracle(const TestList& list, const std::vector<std::int32_t>& tokens)
        : m_list(list), m_tokens(tokens), m_rows(static_cast<std::int64_t>(tokens.size())) {
        m_values.resize(list.ops.values.size());
        m_keys.resize(list.kv.layers.size());
        m_cached.resize(list.kv.layers.size());
    }

    Matrix run() {
        for (const Op& op : m_list.ops.ops) {
            std::visit([this](const auto& o) { compute(o); }, op.op);
        }
        return m_values[index(m_list.ops.output)];
    }

private:
    std::int64_t cols(ValueId id) const { return m_list.ops.values[index(id)].cols; }
    Matrix fresh(ValueId id) const { return Matrix(index(m_rows * cols(id))); }
    const std::vector<float>& weight(WeightId id) const { return m_list.dequantized[index(id)]; }

    template <class Function>
    void map(ValueId in, ValueId out, Function function) {
        Matrix result = m_values[index(in)];
        for (double& x : result) {
            x = function(x);
        }
        m_values[index(out)] = result;
    }

    void compute(const EmbedOp& op) {
        Matrix out = fresh(op.out);
        const std::int64_t n = cols(op.out);
        for (std::int64_t t = 0; t < m_rows; ++t) {
            // A sequence starts at position 0.
            const std::int64_t entry =
                op.index == EmbedIndex::kPosition ? t + op.offset : m_tokens[index(t)];
            for (std::int64_t c = 0; c < n; ++c) {
                out[index(t * n + c)] =
                    double{weight(op.table)[index(entry * n + c)]} * double{op.scale};
            }
        }
        m_values[index(op.out)] = out;
    }

    void compute(const NormOp& op) {
        Matrix x = m_values[index(op.in)];
        const std::int64_t n = cols(op.in);
        const std::int64_t group = op.groupCols == 0 ? n : op.groupCols;
        for (std::int64_t first = 0; first < m_rows * n; first += group) {
            double mean = 0.0;
            double squares = 0.0;
            for (std::int64_t c = 0; c < group && op.kind == NormKind::kLayer; ++c) {
                mean += x[index(first + c)] / static_cast<double>(group);
            }
            for (std::int64_t c = 0; c < group; ++c) {
                const double d = x[index(first + c)] - mean;
                squares += d * d / static_cast<double>(group);
            }
            for (std::int64_t c = 0; c < group; ++c) {
                const auto vectorAt = [&](WeightId id, double none) {
                    if (id == kNone) {
                        return none;
                    }
                    const std::vector<float>& w = weight(id);
                    return double{w[index((first % n + c) % std::ssize(w))]};
                };
                const double factor =
                    op.weight == kNone ? 1.0 : vectorAt(op.weight, 1.0) + double{op.weightOffset};
                double& value = x[index(first + c)];
                value = (value - mean) / std::sqrt(squares + double{op.eps}) * factor +
                        vectorAt(op.bias, 0.0);
            }
        }
        m_values[index(op.out)] = x;
    }

    void compute(const MatMulOp& op) {
        const Matrix& x = m_values[index(op.in)];
        Matrix out = fresh(op.out);
        const std::int64_t k = cols(op.in);
        const std::int64_t n = cols(op.out);
        for (std::int64_t t = 0; t < m_rows; ++t) {
            for (std::int64_t o = 0; o < n; ++o) {
                double sum = op.bias == kNone ? 0.0 : double{weight(op.bias)[index(o)]};
                for (std::int64_t c = 0; c < k; ++c) {
                    sum += x[index(t * k + c)] * double{weight(op.weight)[index(o * k + c)]};
                }
                out[index(t * n + o)] = sum;
            }
        }
        m_values[index(op.out)] = out;
    }

    void compute(const RopeOp& op) {
        Matrix& x = m_values[index(op.inOut)];
        const std::int64_t n = cols(op.inOut);
        const auto half = std::ssize(weight(op.freqs));
        for (std::int64_t t = 0; t < m_rows; ++t) {
            for (std::int64_t head = 0; head < n; head += op.headDim) {
                for (std::int64_t i = 0; i < half; ++i) {
                    const bool isHalves = op.layout == RopeLayout::kHalves;
                    double& a = x[index(t * n + head + (isHalves ? i : 2 * i))];
                    double& b = x[index(t * n + head + (isHalves ? i + half : 2 * i + 1))];
                    const double angle =
                        static_cast<double>(t) * double{weight(op.freqs)[index(i)]};
                    const double c = std::cos(angle) * double{op.magnitude};
                    const double s = std::sin(angle) * double{op.magnitude};
                    const double turned = a * c - b * s;
                    b = b * c + a * s;
                    a = turned;
                }
            }
        }
    }

    void compute(const KvWriteOp& op) {
        m_keys[index(op.kvLayer)] = m_values[index(op.key)];
        m_cached[index(op.kvLayer)] = m_values[index(op.value)];
    }

    void compute(const AttentionOp& op) {
        const KvLayer& kv = m_list.kv.layers[index(op.kvLayer)];
        Matrix out = fresh(op.out);
        for (std::int64_t t = 0; t < m_rows; ++t) {
            for (std::int64_t head = 0; head < op.heads; ++head) {
                attend(op, kv, t, head, out);
            }
        }
        m_values[index(op.out)] = out;
    }

    void attend(const AttentionOp& op, const KvLayer& kv, std::int64_t t, std::int64_t head,
                Matrix& out) const {
        const Matrix& query = m_values[index(op.query)];
        const Matrix& keys = m_keys[index(op.kvLayer)];
        const Matrix& values = m_cached[index(op.kvLayer)];
        const std::int64_t kvHead = head / (op.heads / kv.kvHeads);
        const std::int64_t first = op.window > 0 ? std::max<std::int64_t>(0, t - op.window + 1) : 0;
        std::vector<double> scores;
        double max = op.sinks == kNone ? -std::numeric_limits<double>::infinity()
                                       : double{weight(op.sinks)[index(head)]};
        for (std::int64_t key = first; key <= t; ++key) {
            double score = 0.0;
            for (std::int64_t d = 0; d < kv.keyDim; ++d) {
                score += query[index((t * op.heads + head) * kv.keyDim + d)] *
                         keys[index((key * kv.kvHeads + kvHead) * kv.keyDim + d)];
            }
            score *= double{op.scale};
            if (op.softcap > 0.0F) {
                score = double{op.softcap} * std::tanh(score / double{op.softcap});
            }
            scores.push_back(score);
            max = std::max(max, score);
        }
        double sum =
            op.sinks == kNone ? 0.0 : std::exp(double{weight(op.sinks)[index(head)]} - max);
        for (double& score : scores) {
            score = std::exp(score - max);
            sum += score;
        }
        for (std::int64_t d = 0; d < kv.valueDim; ++d) {
            double mixed = 0.0;
            for (std::int64_t key = first; key <= t; ++key) {
                mixed += scores[index(key - first)] / sum *
                         values[index((key * kv.kvHeads + kvHead) * kv.valueDim + d)];
            }
            out[index((t * op.heads + head) * kv.valueDim + d)] = mixed;
        }
    }

    void compute(const AddOp& op) {
        Matrix out = m_values[index(op.a)];
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] += m_values[index(op.b)][i];
        }
        m_values[index(op.out)] = out;
    }
    void compute(const ScaleOp& op) {
        map(op.in, op.out, [&](double x) { return x * double{op.factor}; });
    }
    void compute(const ActivationOp& op) {
        map(op.in, op.out, [&](double x) { return activationOf(op.kind, x); });
    }
    void compute(const GluOp& op) {
        Matrix out = m_values[index(op.gate)];
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = activationOf(op.kind, out[i]) * m_values[index(op.up)][i];
        }
        m_values[index(op.out)] = out;
    }
    void compute(const SoftcapOp& op) {
        map(op.in, op.out,
            [&](double x) { return double{op.cap} * std::tanh(x / double{op.cap}); });
    }
    void compute(const GatherOutputsOp& op) { m_values[index(op.out)] = m_values[index(op.in)]; }

    const TestList& m_list;
    const std::vector<std::int32_t>& m_tokens;
    std::int64_t m_rows;
    std::vector<Matrix> m_values;
    std::vector<Matrix> m_keys;    // [kvLayers] [tokens, kvHeads · keyDim]
    std::vector<Matrix> m_cached;  // [kvLayers] [tokens, kvHeads · valueDim]
};

}  // namespace

std::vector<double> evaluate(const TestList& list, const std::vector<std::int32_t>& tokens) {
    return Oracle(list, tokens).run();
}

}  // namespace quern::kernels::test
