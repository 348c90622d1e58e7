#include "tests/kernels/cpu/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
        case Activation::kSigmoid:
            return 1.0 / (1.0 + std::exp(-x));
        case Activation::kIdentity:
            return x;
        case Activation::kTanh:
            return std::tanh(x);
    }
    return x;
}

double softplus(double x) {
    return x > 30.0 ? x : std::log1p(std::exp(x));
}

struct Routed {
    std::vector<std::int64_t> choices;
    std::vector<double> shares;
};

/// Indices of the largest values, largest first.
std::vector<std::int64_t> largest(const std::vector<double>& values, std::int64_t count) {
    std::vector<std::int64_t> order(values.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return values[index(a)] > values[index(b)];
    });
    order.resize(index(count));
    return order;
}

std::vector<double> softmax(std::vector<double> x) {
    const double most = *std::max_element(x.begin(), x.end());
    double sum = 0.0;
    for (double& value : x) {
        value = std::exp(value - most);
        sum += value;
    }
    for (double& value : x) {
        value /= sum;
    }
    return x;
}

Routed routeRow(const RouteOp& op, const std::vector<double>& logits,
                const std::vector<double>& bias) {
    std::vector<double> scores = logits;
    if (op.gating == Gating::kSoftmax) {
        scores = softmax(logits);
    } else if (op.gating == Gating::kSigmoid) {
        for (double& x : scores) {
            x = 1.0 / (1.0 + std::exp(-x));
        }
    }
    std::vector<double> compared = scores;
    for (std::size_t i = 0; i < compared.size(); ++i) {
        compared[i] += bias[i];
    }
    const auto size = std::ssize(logits) / op.groups;
    std::vector<double> ofGroups;
    for (std::int64_t g = 0; g < op.groups; ++g) {
        std::vector<double> members(compared.begin() + g * size, compared.begin() + (g + 1) * size);
        std::sort(members.rbegin(), members.rend());
        ofGroups.push_back(members[0] + (op.ranksGroupsByTwo ? members[1] : 0.0));
    }
    const auto groups = largest(ofGroups, op.groupsUsed);
    for (std::size_t i = 0; i < compared.size(); ++i) {
        if (std::find(groups.begin(), groups.end(), static_cast<std::int64_t>(i) / size) ==
            groups.end()) {
            compared[i] = -std::numeric_limits<double>::infinity();
        }
    }
    Routed routed{.choices = largest(compared, op.used), .shares = {}};
    for (const std::int64_t choice : routed.choices) {
        routed.shares.push_back(scores[index(choice)]);
    }
    if (op.gating == Gating::kSoftmaxOfChosen) {
        routed.shares = softmax(routed.shares);
    }
    const double sum = std::accumulate(routed.shares.begin(), routed.shares.end(), 0.0);
    for (double& share : routed.shares) {
        share *= double{op.scale} / (op.normalizes ? sum : 1.0);
    }
    return routed;
}

class Oracle {
public:
    Oracle(const TestList& list, const std::vector<std::int32_t>& tokens,
           const std::vector<std::int32_t>& types)
        : m_list(list),
          m_tokens(tokens),
          m_types(types),
          m_rows(static_cast<std::int64_t>(tokens.size())) {
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
            const std::int64_t entry = op.index == EmbedIndex::kPosition ? t + op.offset
                                       : op.index == EmbedIndex::kToken  ? m_tokens[index(t)]
                                       : m_types.empty()                 ? 0
                                                                         : m_types[index(t)];
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
        std::int64_t last = t;
        if (op.sight == Sight::kAll) {
            last = op.window > 0 ? std::min(m_rows - 1, t + op.window - 1) : m_rows - 1;
        }
        std::vector<double> scores;
        double max = op.sinks == kNone ? -std::numeric_limits<double>::infinity()
                                       : double{weight(op.sinks)[index(head)]};
        for (std::int64_t key = first; key <= last; ++key) {
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
            for (std::int64_t key = first; key <= last; ++key) {
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
    double at(ValueId id, std::int64_t t, std::int64_t col) const {
        return m_values[index(id)][index(t * cols(id) + col)];
    }
    double at(WeightId id, std::int64_t element) const {
        return double{weight(id)[index(element)]};
    }

    void compute(const ConvOp& op) {
        Matrix out = fresh(op.out);
        const std::int64_t n = cols(op.out);
        const std::int64_t rows = m_list.ops.weights[index(op.weight)].rows;
        for (std::int64_t t = 0; t < m_rows; ++t) {
            for (std::int64_t c = 0; c < n; ++c) {
                double sum = op.bias == kNone ? 0.0 : at(op.bias, c);
                for (std::int64_t k = 0; k < rows; ++k) {
                    const std::int64_t from = t - rows + 1 + k;
                    sum += from < 0 ? 0.0 : at(op.weight, k * n + c) * at(op.in, from, c);
                }
                out[index(t * n + c)] = activationOf(op.activation, sum);
            }
        }
        m_values[index(op.out)] = out;
    }

    void compute(const SsdScanOp& op) {
        Matrix out = fresh(op.out);
        const std::int64_t inner = op.heads * op.headDim;
        for (std::int64_t head = 0; head < op.heads; ++head) {
            const std::int64_t b = inner + head / (op.heads / op.groups) * op.stateSize;
            const std::int64_t c = b + op.groups * op.stateSize;
            Matrix state(index(op.headDim * op.stateSize));
            for (std::int64_t t = 0; t < m_rows; ++t) {
                const double step = std::clamp(softplus(at(op.dt, t, head) + at(op.dtBias, head)),
                                               double{op.stepMin}, double{op.stepMax});
                for (std::int64_t p = 0; p < op.headDim; ++p) {
                    const double x = at(op.xbc, t, head * op.headDim + p);
                    double y = at(op.d, head) * x;
                    for (std::int64_t n = 0; n < op.stateSize; ++n) {
                        double& h = state[index(p * op.stateSize + n)];
                        h = h * std::exp(step * at(op.a, head)) + step * x * at(op.xbc, t, b + n);
                        y += h * at(op.xbc, t, c + n);
                    }
                    out[index(t * inner + head * op.headDim + p)] = y;
                }
            }
        }
        m_values[index(op.out)] = out;
    }

    void compute(const DeltaRuleOp& op) {
        Matrix out = fresh(op.out);
        for (std::int64_t head = 0; head < op.valueHeads; ++head) {
            Matrix state(index(op.keyDim * op.valueDim));
            for (std::int64_t t = 0; t < m_rows; ++t) {
                advance(op, head, t, state, out);
            }
        }
        m_values[index(op.out)] = out;
    }

    void advance(const DeltaRuleOp& op, std::int64_t head, std::int64_t t, Matrix& state,
                 Matrix& out) const {
        const std::int64_t query = head / (op.valueHeads / op.keyHeads) * op.keyDim;
        const std::int64_t key = query + op.keyHeads * op.keyDim;
        const std::int64_t value = 2 * op.keyHeads * op.keyDim + head * op.valueDim;
        const auto length = [&](std::int64_t first) {
            double squares = 0.0;
            for (std::int64_t k = 0; k < op.keyDim; ++k) {
                squares += at(op.qkv, t, first + k) * at(op.qkv, t, first + k);
            }
            return std::sqrt(squares + double{op.eps});
        };
        const double decay =
            std::exp(at(op.decay, head) * softplus(at(op.a, t, head) + at(op.dtBias, head)));
        const double beta = activationOf(Activation::kSigmoid, at(op.b, t, head));
        for (std::int64_t v = 0; v < op.valueDim; ++v) {
            double known = 0.0;
            for (std::int64_t k = 0; k < op.keyDim; ++k) {
                double& s = state[index(k * op.valueDim + v)];
                s *= decay;
                known += s * at(op.qkv, t, key + k) / length(key);
            }
            const double change = beta * (at(op.qkv, t, value + v) - known);
            double sum = 0.0;
            for (std::int64_t k = 0; k < op.keyDim; ++k) {
                double& s = state[index(k * op.valueDim + v)];
                s += change * at(op.qkv, t, key + k) / length(key);
                sum += s * at(op.qkv, t, query + k) / length(query) * double{op.scale};
            }
            out[index((t * op.valueHeads + head) * op.valueDim + v)] = sum;
        }
    }

    void compute(const RouteOp& op) {
        const Matrix& logits = m_values[index(op.logits)];
        Matrix out = fresh(op.out);
        const std::int64_t n = cols(op.logits);
        for (std::int64_t t = 0; t < m_rows; ++t) {
            const std::vector<double> row(logits.begin() + t * n, logits.begin() + (t + 1) * n);
            const std::vector<double> bias =
                op.bias == kNone
                    ? std::vector<double>(index(n), 0.0)
                    : std::vector<double>(weight(op.bias).begin(), weight(op.bias).end());
            const Routed routed = routeRow(op, row, bias);
            for (std::int64_t s = 0; s < op.used; ++s) {
                out[index(t * 2 * op.used + s)] = static_cast<double>(routed.choices[index(s)]);
                out[index(t * 2 * op.used + op.used + s)] = routed.shares[index(s)];
            }
        }
        m_values[index(op.out)] = out;
    }

    void compute(const GroupedMatMulOp& op) {
        const Matrix& in = m_values[index(op.in)];
        Matrix out = fresh(op.out);
        const std::int64_t k = m_list.ops.weights[index(op.weights.front())].cols;
        const std::int64_t n = m_list.ops.weights[index(op.weights.front())].rows;
        const std::int64_t slots = cols(op.out) / n;
        for (std::int64_t entry = 0; entry < m_rows * slots; ++entry) {
            const std::int64_t t = entry / slots;
            const std::int64_t s = entry % slots;
            const std::int64_t matrix =
                op.routing == kNone ? s
                                    : static_cast<std::int64_t>(
                                          m_values[index(op.routing)][index(t * 2 * slots + s)]);
            const std::vector<float>& w = weight(op.weights[index(matrix)]);
            const std::int64_t from = cols(op.in) == k ? t * k : entry * k;
            for (std::int64_t o = 0; o < n; ++o) {
                double sum =
                    op.bias == kNone ? 0.0 : double{weight(op.bias)[index(matrix * n + o)]};
                for (std::int64_t c = 0; c < k; ++c) {
                    sum += in[index(from + c)] * double{w[index(o * k + c)]};
                }
                out[index(entry * n + o)] = sum;
            }
        }
        m_values[index(op.out)] = out;
    }

    void compute(const SumSlotsOp& op) {
        const Matrix& routing = m_values[index(op.routing)];
        Matrix out = fresh(op.out);
        const std::int64_t n = cols(op.out);
        const std::int64_t slots = cols(op.routing) / 2;
        for (std::int64_t t = 0; t < m_rows; ++t) {
            for (std::int64_t s = 0; s < slots; ++s) {
                for (std::int64_t c = 0; c < n; ++c) {
                    out[index(t * n + c)] += routing[index((2 * t + 1) * slots + s)] *
                                             m_values[index(op.in)][index((t * slots + s) * n + c)];
                }
            }
        }
        m_values[index(op.out)] = out;
    }

    void compute(const ClampedGluOp& op) {
        Matrix out = m_values[index(op.gate)];
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double limit = double{op.limit};
            const double g = std::min(out[i], limit);
            const double u = std::clamp(m_values[index(op.up)][i], -limit, limit);
            out[i] = g / (1.0 + std::exp(-double{op.alpha} * g)) * (u + 1.0);
        }
        m_values[index(op.out)] = out;
    }
    void compute(const JoinHeadsOp& op) {
        Matrix out;
        for (std::int64_t i = 0; i < m_rows * op.heads; ++i) {
            for (const HeadColumns& part : {op.a, op.b}) {
                if (part.value != kNone) {
                    const std::int64_t n = cols(part.value) / op.heads;
                    const auto from = m_values[index(part.value)].begin() + i * n + part.first;
                    out.insert(out.end(), from, from + part.count);
                }
            }
        }
        m_values[index(op.out)] = out;
    }
    void compute(const GateRowsOp& op) {
        Matrix out = m_values[index(op.in)];
        const std::int64_t n = cols(op.out);
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] /= 1.0 + std::exp(-m_values[index(op.gate)][i / index(n)]);
        }
        m_values[index(op.out)] = out;
    }

    void compute(const GatherOutputsOp& op) { m_values[index(op.out)] = m_values[index(op.in)]; }
    // Every row has the sequence's result.
    void compute(const PoolOp& op) {
        const Matrix& x = m_values[index(op.in)];
        Matrix out = fresh(op.out);
        const std::int64_t n = cols(op.out);
        const std::int64_t count = op.kind == PoolKind::kMean ? m_rows : 1;
        for (std::int64_t i = 0; i < m_rows * n; ++i) {
            for (std::int64_t t = 0; t < count; ++t) {
                out[index(i)] += x[index(t * n + i % n)] / static_cast<double>(count);
            }
        }
        m_values[index(op.out)] = out;
    }

    const TestList& m_list;
    const std::vector<std::int32_t>& m_tokens;
    const std::vector<std::int32_t>& m_types;
    std::int64_t m_rows;
    std::vector<Matrix> m_values;
    std::vector<Matrix> m_keys;    // [kvLayers] [tokens, kvHeads · keyDim]
    std::vector<Matrix> m_cached;  // [kvLayers] [tokens, kvHeads · valueDim]
};

}  // namespace

std::vector<double> evaluate(const TestList& list, const std::vector<std::int32_t>& tokens,
                             const std::vector<std::int32_t>& types) {
    return Oracle(list, tokens, types).run();
}

}  // namespace quern::kernels::test
