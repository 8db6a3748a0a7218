// Two windows of what is open, without drawing them: the second gets the first one's project through what a new process would get, and both
// follow each other through a real link.
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/project.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/session/window_link.h"
#include "core/schedule/constraint_text.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
using namespace std::chrono_literals;

namespace {

/// A first session, and what it opens.
struct Windows {
  double time = 0;
  std::vector<HandedOver> opened;
  std::unique_ptr<Session> first, second;

  Environment environment() {
    Environment e;
    e.solve = test::solve_toy;
    e.clock = [this] { return time; };
    e.run = {"", "", "no GPU in tests"};
    e.predict = {};
    e.open_window = [this](const std::string& project, int number) -> Result<Descriptor> {
      int ends[2];
      REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
      opened.push_back({project, number, std::make_shared<Descriptor>(ends[1])});
      return Descriptor(ends[0]);
    };
    return e;
  }
  Windows() {
    first = std::make_unique<Session>(environment());
    first->apply(OpenPair{"toy_fig1", "toy", false});
    first->apply(SetParam{"T", 16});
    first->apply(StartSolve{});
    until([&] { return !first->live().active(); });
    Schedule other = first->content().entry()->schedule;
    first->apply(AdoptSchedule{other, "another", true});
    REQUIRE(first->content().baseline_entry());
  }
  void open(bool baseline) {
    first->apply(OpenWindow{baseline});
    REQUIRE(opened.size() == 1);
    Environment e = environment();
    e.handed_over = opened.back();
    opened.clear();
    second = std::make_unique<Session>(std::move(e));
    time += 2;
  }
  void pump() {
    first->pump();
    if (second) second->pump();
    // What the chart does with cycles that it is told.
    for (Session* session : {first.get(), second.get()})
      if (session && session->view().restored_chart) session->tell(*std::exchange(session->requests().restored_chart, std::nullopt));
  }
  bool until(const std::function<bool()>& done) {
    pump();
    return test::wait_until(done, [&] { pump(); });
  }
  /// In the time that it takes otherwise, and some.
  bool never(const std::function<bool()>& done) {
    for (int i = 0; i < 100; ++i) {
      pump();
      if (done()) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }
};

using Range = std::optional<std::pair<Cycle, Cycle>>;

}  // namespace

TEST_CASE("another window begins with just what is open, with B in A's place if asked for", "[app]") {
  Windows w;
  w.first->apply(AddConstraint{*parse_constraint("at most 3 stages", *w.first->content().problem), false});
  const auto baseline = w.first->content().baseline;
  REQUIRE(baseline);
  w.open(true);
  CHECK(w.first->windows().window_number() == 1);
  CHECK(w.second->windows().window_number() == 2);
  const Content &a = w.first->content(), &b = w.second->content();
  REQUIRE(b.problem);
  CHECK_FALSE(w.second->error());
  CHECK(b.overrides == Scope{{"T", 16}});
  CHECK(b.constraints == a.constraints);
  REQUIRE(b.schedules.size() == a.schedules.size());
  CHECK(b.shown == baseline);
  CHECK_FALSE(b.baseline);
  CHECK(b.entry()->name == a.baseline_entry()->name);
  // The first has it as well: nothing is lost with the second.
  CHECK_FALSE(w.second->projects().unsaved());
  CHECK(w.second->projects().project_file().empty());
  w.second->apply(ToggleFlag{3});
  CHECK(w.second->projects().unsaved());
  CHECK(w.first->content().flags.empty());
}

TEST_CASE("selection and zoom of either window are followed by the other, and are not sent to and fro", "[app]") {
  Windows w;
  w.open(false);
  w.second->apply(SelectOp{OpId(1)});
  CHECK(w.until([&] { return w.first->selection().ops == std::vector{OpId(1)}; }));
  w.time += 1;
  w.first->tell(ChartKept{Range({3, 17}), {}});
  CHECK(w.until([&] { return w.second->view().chart.visible == Range({3, 17}); }));
  // What the second makes of it is its own business.
  w.second->tell(ChartKept{Range({4, 17}), {}});
  CHECK(w.never([&] { return w.first->view().chart.visible != Range({3, 17}); }));
  w.time += 1;
  w.second->tell(ChartKept{Range({5, 9}), {}});
  CHECK(w.until([&] { return w.first->view().chart.visible == Range({5, 9}); }));
  w.time += 1;
  w.first->apply(ClearSelection{});
  CHECK(w.until([&] { return w.second->selection().empty(); }));
  // Another kernel's window is not followed.
  w.time += 1;
  w.second->apply(OpenPair{"layernorm", "h100", false});
  w.second->apply(SelectOp{OpId(0)});
  CHECK(w.never([&] { return !w.first->selection().empty(); }));
}

TEST_CASE("a window stays when the other one goes, and is alone then", "[app]") {
  Windows w;
  w.open(true);
  w.second.reset();
  CHECK(w.until([&] { return w.first->windows().window_number() == 0; }));
  w.open(true);
  w.first->apply(OpenWindow{false});
  REQUIRE(w.opened.size() == 1);
  CHECK(w.opened.back().number == 3);
  w.opened.clear();
  w.first.swap(w.second);
  w.second.reset();
  CHECK(w.until([&] { return w.first->windows().window_number() == 0; }));
  CHECK(w.first->content().problem);
}

TEST_CASE("a window that cannot be opened is a sentence", "[app]") {
  Windows w;
  w.first->apply(SetBaseline{});
  CHECK(w.first->windows().why_no_window(true) == "there is no B yet: press B on a schedule");
  CHECK(w.first->windows().why_no_window(false).empty());
  Environment none = w.environment();
  none.open_window = {};
  Session session(std::move(none));
  CHECK(session.windows().why_no_window(false) == "nothing is open");
  session.apply(OpenPair{"toy_fig1", "toy", false});
  CHECK(session.windows().why_no_window(false) == "this window has no display on which another could stand");
  session.apply(OpenWindow{});
  CHECK(session.windows().window_number() == 0);
  Environment garbled = w.environment();
  garbled.handed_over = HandedOver{"{", 2, std::make_shared<Descriptor>()};
  Session broken(std::move(garbled));
  REQUIRE(broken.error());
  CHECK(broken.error()->title == "The other window's work cannot be shown");
}
