#include "ui/models/load_sheet.h"

#include <algorithm>

#include "ui/core/sizes.h"
#include "ui/models/fit_words.h"
#include "ui/text/format.h"

namespace quern::ui {
namespace {
constexpr std::int64_t kDefaultContext = 8192;
constexpr int kSmallestContext = 256;
}  // namespace

LoadSheet::LoadSheet(ModelLibrary& library, ModelHost& host, Worker& worker, QObject* parent)
    : QObject(parent), m_library(library), m_host(host), m_worker(worker) {}

void LoadSheet::open(const engine::ModelInfo& info) {
    m_info = info;
    m_options = {};
    m_options.path = info.path;
    m_options.contextTokens =
        std::min(kDefaultContext, info.contextTokens > 0 ? info.contextTokens : kDefaultContext);
    if (!isQuantized()) {
        m_options.activations = kernels::ActivationType::kF32;
    }
    m_isOpen = true;
    m_estimate.reset();
    emit openChanged();
    change();
}

void LoadSheet::close() {
    if (m_isOpen) {
        m_isOpen = false;
        emit openChanged();
    }
}

void LoadSheet::confirm() {
    close();
    m_host.load(m_options);
}

QString LoadSheet::longestContext() const {
    return formatCount(m_info.contextTokens);
}

bool LoadSheet::isQuantized() const {
    return m_info.quantization != "F32" && m_info.quantization != "F16" &&
           m_info.quantization != "BF16";
}

void LoadSheet::setContext(int tokens) {
    const int most = m_info.contextTokens > 0 ? trainedContext() : tokens;
    const int clamped = std::clamp(tokens, std::min(kSmallestContext, most), most);
    if (clamped != context()) {
        m_options.contextTokens = clamped;
        change();
    }
}

bool LoadSheet::exactCache() const {
    return m_options.kvType == kernels::DType::kF32;
}

void LoadSheet::setExactCache(bool isExact) {
    if (isExact != exactCache()) {
        m_options.kvType = isExact ? kernels::DType::kF32 : kernels::DType::kF16;
        change();
    }
}

bool LoadSheet::exactActivations() const {
    return m_options.activations == kernels::ActivationType::kF32;
}

void LoadSheet::setExactActivations(bool isExact) {
    if (isExact != exactActivations()) {
        m_options.activations =
            isExact ? kernels::ActivationType::kF32 : kernels::ActivationType::kQ8;
        change();
    }
}

int LoadSheet::kvMebibytes() const {
    return static_cast<int>(m_options.kvBytes / kMiB);
}

void LoadSheet::setKvMebibytes(int mebibytes) {
    if (mebibytes >= 0 && mebibytes != kvMebibytes()) {
        m_options.kvBytes = mebibytes * kMiB;
        change();
    }
}

void LoadSheet::change() {
    emit optionsChanged();
    estimate();
}

void LoadSheet::estimate() {
    m_worker.ask(
        this, [this, options = m_options] { return m_library.estimate(options); },
        [this, asked = ++m_asked](Result<engine::FitEstimate> result) {
            if (asked != m_asked) {
                return;
            }
            if (result) {
                m_estimate = std::move(*result);
                m_problem.clear();
            } else {
                m_estimate.reset();
                m_problem = QString::fromStdString(result.error().message);
            }
            emit estimated();
        });
}

QVariantList LoadSheet::items() const {
    QVariantList list;
    if (m_estimate) {
        const auto whole = static_cast<double>(
            std::max<std::int64_t>({1, m_estimate->totalBytes, m_estimate->freeBytes}));
        for (const engine::FitItem& item : m_estimate->items) {
            list.append(
                QVariantMap{{QStringLiteral("name"), itemName(item)},
                            {QStringLiteral("bytes"), formatBytes(item.bytes)},
                            {QStringLiteral("share"), static_cast<double>(item.bytes) / whole}});
        }
    }
    return list;
}

QString LoadSheet::total() const {
    return m_estimate ? formatBytes(m_estimate->totalBytes) : QString();
}
QString LoadSheet::freeNow() const {
    return m_estimate ? formatBytes(m_estimate->freeBytes) : QString();
}
double LoadSheet::fill() const {
    return m_estimate && m_estimate->freeBytes > 0 ? static_cast<double>(m_estimate->totalBytes) /
                                                         static_cast<double>(m_estimate->freeBytes)
                                                   : 0;
}
QString LoadSheet::fit() const {
    return m_estimate ? fitName(m_estimate->fit) : QString();
}
QString LoadSheet::advice() const {
    return m_estimate ? QString::fromStdString(m_estimate->advice) : QString();
}
QString LoadSheet::holds() const {
    return m_estimate ? tr("The cache holds %1 tokens over all conversations")
                            .arg(formatCount(m_estimate->kvTokens))
                      : QString();
}

}  // namespace quern::ui
