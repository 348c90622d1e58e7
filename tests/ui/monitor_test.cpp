#include "ui/monitor/monitor.h"

#include <QSignalSpy>

#include "tests/ui/chat_fixture.h"
#include "ui/monitor/chart_item.h"

namespace quern::ui {
namespace {

class MonitorTest : public SessionTest {};

TEST_F(MonitorTest, FiguresAreThoseOfTheSnapshot) {
    start({.text = {}});
    Monitor& monitor = *m_session->monitor();
    ASSERT_TRUE(waitFor([&] { return !monitor.modelName().isEmpty(); }));
    EXPECT_EQ(monitor.decode(), QStringLiteral("1\u202F284"));
    EXPECT_EQ(monitor.interToken(), QStringLiteral("18.4"));
    EXPECT_EQ(monitor.prefixHits(), QStringLiteral("62"));
    EXPECT_EQ(monitor.running(), 14);
    EXPECT_EQ(monitor.waiting(), 3);
    EXPECT_EQ(monitor.requests()->count(), 17);
    EXPECT_TRUE(monitor.cacheStory().startsWith(
        QStringLiteral("8\u202F192 blocks × 16 tokens · 4.0\u00A0GiB")));
}

TEST_F(MonitorTest, PausedItStandsStill) {
    start({.text = {}});
    Monitor& monitor = *m_session->monitor();
    ASSERT_TRUE(waitFor([&] { return !monitor.modelName().isEmpty(); }));
    monitor.setPaused(true);
    QSignalSpy updates(&monitor, &Monitor::updated);
    QSignalSpy fetched(m_session->feed(), &EngineFeed::updated);
    m_session->feed()->fetch();
    ASSERT_TRUE(waitFor([&] { return !fetched.isEmpty(); }));
    EXPECT_TRUE(updates.isEmpty());
}

TEST_F(MonitorTest, TheFeedRestsWhileTheWindowIsHidden) {
    start({.text = {}});
    m_session->feed()->setWatched(true);
    m_session->feed()->setShown(false);
    ASSERT_TRUE(waitFor([&] { return m_session->isIdle(); }));
    QCoreApplication::processEvents();
    QSignalSpy fetched(m_session->feed(), &EngineFeed::updated);
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 400) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 50);
    }
    EXPECT_TRUE(fetched.isEmpty());
    m_session->feed()->setShown(true);
    ASSERT_TRUE(waitFor([&] { return fetched.size() >= 2; }));
}

TEST(RequestTableTest, RowsAreUpdatedInPlace) {
    RequestTable table;
    std::vector<engine::RequestSnapshot> requests(3);
    table.show(requests);
    QSignalSpy resets(&table, &QAbstractItemModel::modelReset);
    QSignalSpy inserts(&table, &QAbstractItemModel::rowsInserted);
    requests[1].waitReason = "no free blocks";
    table.show(requests);
    EXPECT_TRUE(resets.isEmpty());
    EXPECT_TRUE(inserts.isEmpty());
    EXPECT_EQ(table.data(table.index(1), RequestTable::kReason).toString(),
              QStringLiteral("no free blocks"));
    requests.resize(1);
    table.show(requests);
    EXPECT_EQ(table.rowCount(), 1);
}

TEST(ChartItemTest, ScalesEndAtRoundValuesAndThePointerFindsItsSample) {
    ChartItem chart;
    EXPECT_EQ(chart.firstTop(), 1);
    chart.setWidth(101);
    chart.setProperty("samples", 101);
    chart.setFirst({0, 10, 1284});
    EXPECT_EQ(chart.firstTop(), 1500);
    EXPECT_EQ(chart.sampleAt(101), 2);
    EXPECT_EQ(chart.sampleAt(100), 1);
    EXPECT_EQ(chart.sampleAt(0), -1);
    EXPECT_EQ(chart.valueText(2, true), QStringLiteral("1\u202F284"));
    EXPECT_EQ(chart.valueText(9, true), QString());
}

}  // namespace
}  // namespace quern::ui
