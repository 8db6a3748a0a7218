// Demands about layouts, in words.
#include <catch2/catch.hpp>

#include "core/library/inputs.h"
#include "core/library/layout_demands.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

struct Taken {
  bool taken = false;
  LayoutChoices choices;
  std::string faults;
};

Taken take(std::string_view sentence) {
  static const Kernel kernel = load_kernel("attention_backward_hopper").value();
  Taken taken;
  std::vector<Fault> faults;
  taken.taken = take_layout_demand(sentence, kernel, taken.choices, faults);
  for (const Fault& fault : faults) taken.faults += to_string(fault) + "\n";
  return taken;
}

}  // namespace

TEST_CASE("a demand in words chooses a layout or an instruction", "[core]") {
  CHECK(take("layout dqs0 panels 32").choices.layouts.at("dqs0") == "panels 32");
  CHECK(take("  layout   dqs0   panels 32 ").choices.layouts.at("dqs0") == "panels 32");
  for (const char* sentence : {"store dqs0 by st.shared.8", "store dq0 by st.shared.8", "store stage_dq0 by st.shared.8"})
    CHECK(take(sentence).choices.instructions.at("stage_dq0").name == "st.shared.8");
  CHECK(take("store dq0 by stmatrix").choices.instructions.at("stage_dq0").name == "stmatrix.x4");
  CHECK(take("store dqs0 by st.shared.8,2,3").choices.instructions.at("stage_dq0").exchange.lane == 2);
}

TEST_CASE("weights are demanded to be packed, or not", "[core]") {
  const auto demand = [](const char* kernel, const char* sentence) {
    Taken taken;
    std::vector<Fault> faults;
    taken.taken = take_layout_demand(sentence, load_kernel(kernel).value(), taken.choices, faults);
    for (const Fault& fault : faults) taken.faults += to_string(fault) + "\n";
    return taken;
  };
  CHECK(demand("gemm_w4a16_hopper", "prepack W off").choices.layouts.at("W") == "natural");
  CHECK(demand("gemm_w4a16_hopper", "prepack W on").choices.layouts.at("W") == "prepacked");
  CHECK(demand("gemm_w4a16_hopper", "prepack X on").faults.find("there are W") != std::string::npos);
  CHECK(demand("gemm_w4a16_prepacked_hopper", "prepack W off").faults.find("the file says that 'W' is prepacked") != std::string::npos);
  CHECK(demand("gemm_hopper", "prepack A on").faults.find("in its file says of which it may be") != std::string::npos);
  CHECK(!demand("gemm_w4a16_hopper", "prepack W sometimes").taken);
}

TEST_CASE("other demands are left alone", "[core]") {
  for (const char* sentence : {"pin S0 at 128", "S0 before dP0 by 64", "load before S0", "store in group 1", ""})
    CHECK(!take(sentence).taken);
}

TEST_CASE("a demand about layouts that says too little, or of nothing, is refused with what was meant", "[core]") {
  CHECK(take("layout dqs0").faults.find("which value lies how?") != std::string::npos);
  CHECK(take("store dqs0 with st.shared.8").faults.find("by which instruction?") != std::string::npos);
  CHECK(take("store dqs7 by st.shared.8").faults.find("dqs0") != std::string::npos);
  CHECK(take("load dqs0 by ld.shared.8").faults.find("there is none") != std::string::npos);
  CHECK(take("store dqs0 by a,b").faults.find("expected OP=NAME or") != std::string::npos);
}

TEST_CASE("what demands say of layouts is in the problem, beside the other demands", "[core]") {
  std::vector<Fault> warnings;
  InputNames names{"attention_backward_hopper", "h100", {}};
  names.demands = {"layout dqs0 panels 32", "store dqs0 by st.shared.8", "at most 3 stages"};
  const auto inputs = load_inputs(names, warnings);
  REQUIRE(inputs);
  CHECK(inputs->choices().layouts.at("dqs0") == "panels 32");
  CHECK(inputs->constraints.size() == 1);
  names.demands = {"layout dqs0 panels 31"};
  CHECK(!load_inputs(names, warnings));
}
