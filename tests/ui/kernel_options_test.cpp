// The row of options in the CUDA tab and "Verify with data": one row per gesture and key, what they cannot do and why, and a
// step that failed, which leads to its op. The solver is not asked; schedules come from files.
#include <catch2/catch.hpp>
#include <functional>

#include "app/session/command_line.h"
#include "app/session/environment.h"
#include "app/session/kernel_state.h"
#include "app/session/proposal_commands.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"
#include "tests/support/window/invariants.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

struct KernelBench : Harness {
  explicit KernelBench(const char* schedule = "gemm_hopper_h100", Environment environment = {}, int width = 1920, int height = 1080)
      : Harness(test::solve_until_cancelled, width, height, std::move(environment)) {
    session().apply(OpenSchedule{test::repository_path(std::string("tests/schedules/") + schedule + ".json")});
    REQUIRE(session().content().entry());
    session().apply(show_tab(BottomTab::Cuda));
    window().ui().maximized = true;
    settle();
  }
  ~KernelBench() { CHECK(test::broken_invariants(session()) == std::vector<std::string>()); }
  void settle() {
    wait_while([this] { return session().building(); });
    frame(4);
  }
  const KernelOptions& options() { return session().content().kernel_options; }
  const KernelText& text() {
    REQUIRE(session().kernel().text().answer());
    return *session().kernel().text().answer();
  }
  std::string copied() {
    key(Key::C, {.ctrl = true, .shift = true});
    return ImGui::GetClipboardText();
  }
};

struct OptionRow {
  const char* name;
  std::function<void(KernelBench&)> input;
  std::function<bool(KernelBench&)> effect;
};

const OptionRow kOptionRows[] = {
    {"cluster 2: in pairs of blocks, and in the copied line", [](KernelBench& b) { b.click("cuda/cluster/2"); },
     [](KernelBench& b) {
       return b.options().build.cluster == 2 && b.text().emission->launch.cluster == 2 &&
              b.copied() == "heddle emit gemm_hopper h100 --cluster 2 " + test::repository_path("tests/schedules/gemm_hopper_h100.json");
     }},
    {"cluster 1 again: takes it back",
     [](KernelBench& b) {
       b.click("cuda/cluster/2");
       b.settle();
       b.click("cuda/cluster/1");
     },
     [](KernelBench& b) { return b.options() == KernelOptions{} && b.text().emission->launch.cluster == 1; }},
    {"Ctrl+Z: takes an option back",
     [](KernelBench& b) {
       b.click("cuda/cluster/2");
       b.settle();
       b.key(Key::Z, {.ctrl = true});
     },
     [](KernelBench& b) { return b.options() == KernelOptions{}; }},
    {"records loop: clock readings", [](KernelBench& b) { b.click("cuda/records/loop"); },
     [](KernelBench& b) { return b.text().emission->records.has_value(); }},
    {"records ops: around every op", [](KernelBench& b) { b.click("cuda/records/ops"); },
     [](KernelBench& b) { return b.text().of.options.records == codegen::Recording::Ops; }},
    {"records none: the plain kernel",
     [](KernelBench& b) {
       b.click("cuda/records/ops");
       b.settle();
       b.click("cuda/records/none");
     },
     [](KernelBench& b) { return !b.text().emission->records; }},
    {"trips: a number of one's own",
     [](KernelBench& b) {
       b.click("cuda/trips");
       b.type("5");
       b.key(Key::Enter);
     },
     [](KernelBench& b) { return b.options().trips == 5 && b.text().program->trips == 5; }},
    {"trips: nonsense is not taken",
     [](KernelBench& b) {
       b.click("cuda/trips");
       b.type("5x");
       b.key(Key::Enter);
     },
     [](KernelBench& b) { return !b.options().trips; }},
    {"trips: Escape leaves them as they were",
     [](KernelBench& b) {
       b.click("cuda/trips");
       b.type("5");
       b.key(Key::Escape);
     },
     [](KernelBench& b) { return !b.options().trips; }},
    {"text steps: every role's steps, and their line",
     [](KernelBench& b) {
       b.click("cuda/text/steps");
       b.click("cuda/command");
     },
     [](KernelBench& b) { return b.has("cuda/line/1") && std::string(ImGui::GetClipboardText()).find(" --program") != std::string::npos; }},
    {"text steps, Copy: the whole text",
     [](KernelBench& b) {
       b.click("cuda/text/steps");
       b.click("cuda/copy");
     },
     [](KernelBench& b) { return ImGui::GetClipboardText() == b.text().steps.text; }},
    {"text CUDA: back",
     [](KernelBench& b) {
       b.click("cuda/text/steps");
       b.click("cuda/text/cuda");
       b.click("cuda/copy");
     },
     [](KernelBench& b) { return ImGui::GetClipboardText() == b.text().source.text; }},
    {"F4 in the steps: to the lines of the op in CUDA",
     [](KernelBench& b) {
       b.click("cuda/text/steps");
       b.session().apply(SelectOp{OpId(2)});
       b.frame(3);
       b.key(Key::F4);
     },
     [](KernelBench& b) { return !b.window().ui().of<CudaTabState>().steps && b.window().ui().of<CudaTabState>().marked.has_value(); }},
    {"Ctrl+F6: verifies with data", [](KernelBench& b) { b.key(Key::F6, {.ctrl = true}); },
     [](KernelBench& b) {
       return b.session().kernel().verified().answer() && b.session().kernel().verified().answer()->fault.empty() &&
              b.copied().find(" --interleavings 12 --data") != std::string::npos;
     }},
    {"the button verifies with data, and its line is beside the result",
     [](KernelBench& b) {
       b.click("cuda/verify_data");
       b.settle();
       b.click("cuda/data/command");
     },
     [](KernelBench&) {
       return std::string(ImGui::GetClipboardText()).find("heddle interpret gemm_hopper h100 --interleavings 12 --data") == 0;
     }},
    {"the button again while it is at work: cancels",
     [](KernelBench& b) {
       b.session().apply(CheckKernel{1'000'000, true});
       b.frame(2);
       b.click("cuda/verify_data/cancel");
     },
     [](KernelBench& b) { return !b.session().kernel().verified().active() && !b.session().kernel().verified().answer(); }},
};

}  // namespace

TEST_CASE("every gesture and key of the kernel's options does what is said", "[ui]") {
  for (const OptionRow& row : kOptionRows) {
    INFO(row.name);
    KernelBench bench;
    row.input(bench);
    bench.settle();
    CHECK(row.effect(bench));
  }
}

TEST_CASE("an option that this kernel cannot have is greyed, with its reason", "[ui]") {
  KernelBench b("layernorm_h100");
  for (const char* id : {"cluster", "turns"}) {
    INFO(id);
    CHECK(why_not(*find_action(id), b.session()).size() > 8);
  }
  b.click("cuda/cluster/2");
  b.click("cuda/turns/off");
  b.settle();
  CHECK(b.options() == KernelOptions{});
  CHECK(why_not(*find_action("records_loop"), b.session()).empty());
  // What a project brought can be left again.
  KernelOptions brought;
  brought.build.cluster = 2;
  b.session().apply(SetKernelOptions{brought});
  b.settle();
  REQUIRE_FALSE(b.text().refusals.empty());
  CHECK(b.has("cuda/cluster/1"));
  b.click("cuda/cluster/1");
  b.settle();
  CHECK(b.text().emission);
}

TEST_CASE("a step that failed is named and leads to its op, in the chart and in the text", "[ui]") {
  Environment environment;
  environment.kernel.check = [](const KernelText& text, const CheckRequest& request, std::stop_token,
                                const std::function<void(std::string)>& say) {
    say("1 of 12 interleavings with data");
    KernelCheck check;
    check.of = text.of;
    check.data = request.data;
    check.wanted = request.interleavings;
    check.done = 2;
    check.kind = "use before ready";
    check.role = "consumer A";
    check.step = "issue MMA1";
    check.op = text.of.problem->find_op("MMA1");
    check.fault = "use before ready: consumer A at 'issue MMA1', tile 0, iteration 3: nobody has waited";
    return check;
  };
  KernelBench b("gemm_hopper_h100", environment);
  const OpId mma = b.session().content().problem->find_op("MMA1");
  for (const bool data : {true, false}) {
    b.session().apply(ClearSelection{});
    b.click(data ? "cuda/verify_data" : "cuda/verify");
    b.settle();
    b.click(data ? "cuda/data/op" : "cuda/check/op");
    b.frame(3);
    CHECK(b.session().selection().primary() == mma);
  }
  CHECK(b.session().log().back().level == LogLevel::Bad);
  // Written otherwise it is another program: nothing is said of that one.
  b.click("cuda/cluster/2");
  b.settle();
  CHECK_FALSE(b.has("cuda/data/op"));
}

TEST_CASE("the options have room at every size, or leave it to the text", "[ui]") {
  for (const auto& [width, height, scale] : {std::array{1920, 1080, 100}, {1280, 720, 100}, {1920, 1080, 200}}) {
    INFO(width << " x " << height << " at " << scale);
    KernelBench b("gemm_hopper_h100", {}, width, height);
    b.session().apply(use_scale(scale, false));
    b.frame(6);
    const auto pane = b.at("pane/bottom");
    for (const char* name : {"cuda/cluster/1", "cuda/cluster/2", "cuda/turns/on", "cuda/records/ops", "cuda/trips", "cuda/text/steps"}) {
      INFO(name);
      const auto rect = b.at(name);
      CHECK(rect.x1 <= pane.x1);
      CHECK(rect.y1 <= pane.y1);
    }
    CHECK(b.has("cuda/line/1"));
    b.window().ui().maximized = false;
    b.frame(6);
    CHECK(b.has("cuda/line/1"));
  }
}
