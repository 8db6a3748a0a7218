// Views of layouts: published facts, cells against the layouts themselves, phases, sentences, texts and pictures.
#include "core/answers/layout_view.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "core/answers/layout_picture.h"
#include "core/layout/known.h"
#include "core/library/library.h"
#include "tests/support/golden.h"
#include "tests/support/json_schema.h"

using namespace heddle;

namespace {

const Machine& h100() {
  static const Machine machine = *load_machine("h100");
  return machine;
}

LayoutView view_of_text(const std::string& text, const std::string& access = {}, DType dtype = DType::F16,
                        std::vector<std::int64_t> shape = {}, const std::string& with = {}) {
  LayoutQuestion question;
  question.text = text;
  question.access = access;
  question.dtype = dtype;
  question.shape = std::move(shape);
  question.with = with;
  const Result<LayoutView> view = view_of(question, h100());
  INFO((view ? std::string() : to_string(view.error())));
  REQUIRE(view.ok());
  return *view;
}

std::string refusal_of(const LayoutQuestion& question, const Machine& machine = h100()) {
  const Result<LayoutView> view = view_of(question, machine);
  REQUIRE_FALSE(view.ok());
  return to_string(view.error());
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Instance instance_of(const Kernel& kernel) {
  Result<Instance> instance = make_instance(spec_of(kernel, h100()));
  REQUIRE(instance.ok());
  REQUIRE(instance->problem().layouts);
  return *std::move(instance);
}

double contrast(std::uint32_t a, std::uint32_t b) {
  const auto luminance = [](std::uint32_t colour) {
    double sum = 0;
    const double weights[] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; ++i) {
      const double c = static_cast<double>(colour >> (16 - 8 * i) & 255) / 255;
      sum += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
  };
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

TEST_CASE("ldmatrix.x4 on rows of 128 bytes: 8-way plain, none with Swizzle<3,3,3>, 2-way with <3,3,4>, which is right for 256", "[core]") {
  CHECK(view_of_text("(64,64):(64,1)", "ldmatrix.x4").cost.ways == 8);
  CHECK(view_of_text("Sw<3,3,3> o (64,64):(64,1)", "ldmatrix.x4").cost.ways == 1);
  CHECK(view_of_text("Sw<3,3,4> o (64,64):(64,1)", "ldmatrix.x4").cost.ways == 2);
  CHECK(view_of_text("Sw<3,3,4> o (64,128):(128,1)", "ldmatrix.x4").cost.ways == 1);
}

TEST_CASE("stmatrix meets no bank twice in the modes of TMA", "[core]") {
  for (const char* panels : {"panels 128", "panels 64", "panels 32"}) {
    CAPTURE(panels);
    CHECK(view_of_text(panels, "stmatrix.x4", DType::Bf16, {64, 64}).cost.ways == 1);
  }
  CHECK(view_of_text("rows", "stmatrix.x4", DType::Bf16, {64, 64}).cost.ways == 8);
}

TEST_CASE("the accumulator's pairs of f32 meet in panels of 128 bytes, and an alternative is named", "[core]") {
  const LayoutView view = view_of_text("panels 128", "st.shared.8", DType::F32, {64, 64}, "accumulator");
  CHECK(view.cost.ways == 2);
  CHECK(view.cost.port == 2 * view.cost.least);
  CHECK(has(view.why, "2-way"));
  CHECK(has(view.why, "panels 32 with st.shared.8 needs"));
  REQUIRE_FALSE(view.alternatives.empty());
  CHECK(view.alternatives.front().current);
  CHECK(not_taken_text(view, 0) == "taken");
}

TEST_CASE("a view's cells say what the layouts say, and phases what the banks of their words have", "[core]") {
  const LayoutView view = view_of_text("Sw<2,3,3> o (32,64):(64,1)", "ldmatrix.x4");
  REQUIRE(view.registers);
  REQUIRE(view.memory);
  REQUIRE(view.access);
  for (std::int64_t row = 0; row < view.rows; ++row)
    for (std::int64_t column = 0; column < view.columns; ++column) {
      const LayoutCell& cell = view.at(row, column);
      const std::vector<LayoutPlace> held = places_of(*view.registers, {row, column}), kept = places_of(*view.memory, {row, column});
      REQUIRE(kept.size() == 1);
      REQUIRE(static_cast<std::int64_t>(held.size()) == cell.copies);
      CHECK(held.front()[LayoutAxis::Lane] == cell.lane);
      CHECK(held.front()[LayoutAxis::Register] == cell.reg);
      CHECK(held.front()[LayoutAxis::Warp] == cell.warp);
      CHECK(kept.front()[LayoutAxis::Offset] * 2 == cell.byte);
      CHECK(cell.byte / 4 % 32 == cell.bank);
      // Whoever is served in that phase has a word of this bank.
      bool found = false;
      for (std::size_t one = 0; one < view.access->all.size(); ++one) {
        if (view.access->all[one].issue != cell.issue || view.access->all[one].warp != cell.warp) continue;
        const BankStrip strip = bank_strip(*view.access, one, cell.phase);
        const auto& words = strip.banks[static_cast<std::size_t>(cell.bank)];
        CHECK(static_cast<std::int32_t>(words.size()) == cell.ways);
        for (const ServedWord& word : words) found = found || word.word == cell.byte / 4;
      }
      CHECK(found);
    }
}

TEST_CASE("the phases of an access add up to the cycles of its cost", "[core]") {
  for (const char* access : {"ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x4.trans", "stmatrix.x4", "ld.shared.4", "ld.shared.8",
                             "ld.shared.16", "st.shared.2", "st.shared.8", "st.shared.16"})
    for (const char* memory :
         {"(64,64):(64,1)", "(64,64):(72,1)", "Sw<3,3,3> o (64,64):(64,1)", "Sw<1,3,3> o (64,64):(64,1)", "(64,64):(1,64)"}) {
      CAPTURE(access, memory);
      LayoutQuestion question;
      question.text = memory;
      question.access = access;
      const Result<LayoutView> view = view_of(question, h100());
      if (!view) continue;  // columns side by side are no rows of 16 bytes
      std::int64_t cycles = 0;
      int ways = 1;
      for (std::size_t one = 0; one < view->access->all.size(); ++one)
        for (int phase = 0; phase < phases(*view->access); ++phase) {
          const BankStrip strip = bank_strip(*view->access, one, phase);
          cycles += strip.ways;
          ways = std::max(ways, strip.ways);
        }
      CHECK(cycles == view->cost.port);
      CHECK(ways == view->cost.ways);
      CHECK(worst_strip(*view->access).ways == ways);
    }
}

TEST_CASE("what cannot be is refused with a sentence", "[core]") {
  CHECK(has(refusal_of({"(64,64):(64,1)", {}, DType::F32, "ldmatrix.x4.trans", "", {}}), "16 bits"));
  CHECK(has(refusal_of({"(64,64):(64,1)", {}, DType::F16, "ldmatrix.x5", "", {}}), "did you mean"));
  CHECK(has(refusal_of({"(64,64):(64,1)", {}, DType::F16, "mov", "", {}}), "ldmatrix.x4"));
  CHECK(has(refusal_of({"(60,60):(60,1)", {}, DType::F16, "ldmatrix.x4", "", {}}), "no multiple"));
  CHECK(has(refusal_of({"accumulator", {64, 64}, DType::F16, "stmatrix.x4", "", {}}), "needs a tile in memory"));
  CHECK(has(refusal_of({"accumulator", {64, 64}, DType::F16, "", "operand", {}}), "both layouts are of registers"));
  CHECK(has(refusal_of({"(64,64):(64,1)", {}, DType::F16, "ldmatrix.x4", "", {}}, *load_machine("toy")), "no catalogue"));
  CHECK_FALSE(refusal_of({"(64,64", {}, DType::F16, "", "", {}}).empty());
}

TEST_CASE("every value and op of every shipped Hopper kernel has a view or says why not", "[core]") {
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) {
    CAPTURE(entry.name);
    const Result<Kernel> kernel = load_kernel(entry.name);
    REQUIRE(kernel.ok());
    const Result<Instance> instance = make_instance(spec_of(*kernel, h100()));
    if (!instance || !instance->problem().layouts) continue;  // of another machine
    const std::vector<LayoutListRow> rows = layout_list(*kernel, instance->problem());
    std::set<std::string> named;
    for (const LayoutListRow& row : rows) {
      named.insert(row.value);
      CAPTURE(row.value, row.op);
      if (row.accessed && row.cost.known && row.charged) CHECK(row.cost.port >= row.cost.least);
      const Result<LayoutView> view = view_of(*instance, row.value, row.accessed ? row.op : "", false);
      if (!view) {
        CHECK(has(to_string(view.error()), "not known"));
        continue;
      }
      CHECK(std::ssize(view->cells) == view->rows * view->columns);
      CHECK_FALSE(view->why.empty());
      if (view->access) CHECK(view->cost.ways == worst_strip(*view->access).ways);
    }
    CHECK(named.size() == kernel->values.size());
  }
}

TEST_CASE("alternatives come with what II they leave, today's first", "[core]") {
  const Kernel kernel = *load_kernel("attention_backward_hopper");
  const Instance instance = instance_of(kernel);
  std::string value, op;
  for (const LayoutListRow& row : layout_list(kernel, instance.problem()))
    if (row.op.find("stage") == 0 && value.empty()) value = row.value, op = row.op;
  REQUIRE_FALSE(value.empty());
  const Result<LayoutView> view = view_of(instance, value, op, true);
  REQUIRE(view.ok());
  REQUIRE_FALSE(view->alternatives.empty());
  CHECK(view->bounds.size() == view->alternatives.size());
  CHECK(view->alternatives.front().current);
  for (std::size_t i = 0; i < view->alternatives.size(); ++i) {
    CHECK_FALSE(not_taken_text(*view, i).empty());
    if (!view->alternatives[i].refused.empty()) CHECK(view->bounds[i] == 0);
  }
}

TEST_CASE("CSV has a row for every element, and JSON the phases of the worst instruction", "[core]") {
  const LayoutView view = view_of_text("(16,16):(16,1)", "ldmatrix.x4");
  const std::string csv = layout_csv(view);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 16 * 16 + 1);
  CHECK(has(csv, "row,column,warp,lane,register,copies,byte,bank,issue,phase\n0,0,0,0,0,1,0,0,0,0\n"));
  const Json json = layout_json(view);
  CHECK(test::schema_fault(layout_schema(), json) == "");
  REQUIRE(json.find("phases"));
  CHECK(json.find("phases")->items()->size() == 4);
  CHECK(*json.find("ways")->integer() == view.cost.ways);
}

TEST_CASE("text and picture of a small layout are the golden ones", "[core]") {
  const LayoutView view = view_of_text("(16,16):(16,1)", "ldmatrix.x4");
  CHECK(test::golden_difference("layout_small.txt", layout_summary(view, {})) == "");
  CHECK(test::golden_difference("layout_small.svg", svg_of(draw_layout(view, LayoutColour::Lane, SvgTheme::Light))) == "");
}

TEST_CASE("memory that is nearly all padding takes no more than its elements", "[core]") {
  const LayoutView view = view_of_text("(64,64):(16000000,1)", "ldmatrix.x4");
  CHECK(view.cost.ways == 8);
  CHECK(view.at(63, 63).byte == (63LL * 16'000'000 + 63) * 2);
  CHECK(view.at(63, 63).issue >= 0);
}

TEST_CASE("a large grid stays within the width, and says what it leaves out", "[core]") {
  const LayoutView view = view_of_text("panels 128", "st.shared.16", DType::F32, {256, 256});
  TextStyle style;
  style.width = 80;
  const std::string text = layout_summary(view, style);
  CHECK(has(text, "240 rows more"));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.find("alternatives") == 0) break;
    CHECK(display_width(line) <= 80);
    at = end + 1;
  }
  style.utf8 = false;
  for (const char c : layout_summary(view, style)) CHECK(static_cast<unsigned char>(c) < 0x80);
  CHECK_FALSE(has(layout_summary(view, style, LayoutColour::Lane, true), "rows more"));
}

TEST_CASE("letters can be read on every colour, and neighbours differ in more than hue", "[core]") {
  for (const LayoutColour colour :
       {LayoutColour::Warp, LayoutColour::Lane, LayoutColour::Register, LayoutColour::Bank, LayoutColour::Phase})
    for (std::int64_t index = -1; index < 128; ++index) {
      CAPTURE(to_string(colour), index);
      const LayoutPaint paint = layout_paint(colour, index, 128);
      CHECK(contrast(paint.fill, paint.text) >= 4.5);
    }
  std::set<std::uint32_t> lanes;
  for (std::int64_t lane = 0; lane < 32; ++lane) lanes.insert(layout_paint(LayoutColour::Lane, lane, 32).fill);
  CHECK(lanes.size() == 32);
}

TEST_CASE("two drawings stand beside each other, or below where they are too wide", "[core]") {
  const LayoutDrawing small = draw_layout(view_of_text("(16,16):(16,1)", "ldmatrix.x4"), LayoutColour::Lane, SvgTheme::Dark);
  const LayoutDrawing beside = drawing_pair(small, small);
  CHECK(beside.width == 2 * small.width);
  LayoutDrawing wide = small;
  wide.width = 2500;
  CHECK(drawing_pair(wide, small).height == 2 * small.height);
  CHECK(beside.boxes.size() == 2 * small.boxes.size());
}
