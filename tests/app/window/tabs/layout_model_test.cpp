// What the Layout tab says, of views made by hand and of layouts by themselves.
#include <catch2/catch.hpp>

#include "app/jobs/layout_views.h"
#include "app/window/tabs/layout/layout_model.h"
#include "core/library/library.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

namespace {

/// 4 x 8 elements: a row per lane, columns in registers; a byte each, two rows of a bank.
LayoutView by_hand() {
  LayoutView view;
  view.title = "by hand";
  view.dtype = DType::F32;
  view.bits = 32;
  view.rows = 4;
  view.columns = 8;
  for (std::int32_t r = 0; r < 4; ++r)
    for (std::int32_t c = 0; c < 8; ++c) {
      LayoutCell cell;
      cell.warp = 0;
      cell.lane = r;
      cell.reg = c;
      cell.copies = 1;
      cell.byte = (r * 8 + c) * 4;
      cell.bank = r * 8 + c;
      view.cells.push_back(cell);
    }
  return view;
}

LayoutQuestion plain(const char* access) {
  LayoutQuestion question;
  question.text = "(64,64):(64,1)";
  question.dtype = DType::F16;
  question.access = access;
  return question;
}

bool mentions(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("cells that say the same are one block, and every cell is in one", "[app]") {
  const LayoutView view = by_hand();
  const LayoutBlocks lanes = blocks_of(view, LayoutColour::Lane);
  CHECK(lanes.count == 4);
  REQUIRE(lanes.blocks.size() == 4);
  CHECK(lanes.blocks[2] == LayoutBlock{2, 0, 1, 8, 2});
  const LayoutBlocks registers = blocks_of(view, LayoutColour::Register);
  REQUIRE(registers.blocks.size() == 8);
  CHECK(registers.blocks[3] == LayoutBlock{0, 3, 4, 1, 3});
  CHECK(blocks_of(view, LayoutColour::Warp).blocks == std::vector<LayoutBlock>{{0, 0, 4, 8, 0}});
  CHECK(blocks_of(view, LayoutColour::Phase).blocks == std::vector<LayoutBlock>{{0, 0, 4, 8, -1}});
  for (const LayoutColour colour :
       {LayoutColour::Warp, LayoutColour::Lane, LayoutColour::Register, LayoutColour::Bank, LayoutColour::Phase}) {
    std::vector<int> seen(32);
    for (const LayoutBlock& b : blocks_of(view, colour).blocks)
      for (int r = b.row; r < b.row + b.rows; ++r)
        for (int c = b.column; c < b.column + b.columns; ++c) {
          ++seen[static_cast<std::size_t>(r * 8 + c)];
          CHECK(colour_index(view.at(r, c), view, colour) == b.index);
        }
    CHECK(seen == std::vector<int>(32, 1));
  }
}

TEST_CASE("a view without cells has no blocks", "[app]") {
  LayoutView view;
  view.rows = view.columns = 3;
  CHECK(blocks_of(view, LayoutColour::Lane).blocks.empty());
}

TEST_CASE("a click chooses a lane of a warp, or a register of all lanes", "[app]") {
  const LayoutView view = by_hand();
  const auto lane = pick_of(view.at(2, 5), false), reg = pick_of(view.at(2, 5), true);
  REQUIRE(lane);
  REQUIRE(reg);
  CHECK(pick_text(*lane, view) == "lane 2 of warp 0 holds 8 elements");
  CHECK(pick_text(*reg, view) == "register 5 holds 4 elements of all lanes");
  CHECK(lane->has(view.at(2, 0)));
  CHECK_FALSE(lane->has(view.at(3, 5)));
  CHECK(reg->has(view.at(3, 5)));
  LayoutCell nowhere;
  CHECK_FALSE(pick_of(nowhere, false));
}

TEST_CASE("a cell says coordinate, warp, lane, register, byte and bank at once", "[app]") {
  LayoutView view = by_hand();
  CHECK(cell_text(view, 3, 7) == "row 3, column 7 · warp 0, lane 3, register 7 · byte 124, bank 31");
  view.cells[0].copies = 4;
  CHECK(cell_text(view, 0, 0) == "row 0, column 0 · warp 0, lane 0, register 0, 4 copies · byte 0, bank 0");
  view.cells[1] = {};
  CHECK(cell_text(view, 0, 1) == "row 0, column 1");
}

TEST_CASE("plain rows of 128 bytes are 8-way for ldmatrix, and its phases say who meets whom", "[app]") {
  const auto machine = load_machine("h100");
  REQUIRE(machine);
  const auto view = view_of(plain("ldmatrix.x4"), *machine);
  REQUIRE(view);
  REQUIRE(view->access);
  CHECK(view->cost.ways == 8);
  CHECK(mentions(head_text(*view), "8-way"));
  const std::int64_t steps = phase_steps(*view);
  CHECK(steps == static_cast<std::int64_t>(view->access->all.size()) * phases(*view->access));
  const BankStrip worst = phase_at(*view, worst_step(*view));
  CHECK(worst.ways == 8);
  CHECK(mentions(phase_text(*view, worst), "8-way, lanes meet in 4 banks"));
  // Steps beyond the ends are the ends.
  CHECK(phase_at(*view, -5).issue == 0);
  CHECK(phase_at(*view, steps + 100).phase == phases(*view->access) - 1);
  for (const auto& [row, column] : {std::pair{0, 0}, {9, 17}, {63, 63}}) {
    const LayoutCell& cell = view->at(row, column);
    const auto step = step_of(*view, cell);
    REQUIRE(step);
    const BankStrip strip = phase_at(*view, *step);
    CHECK(strip.warp == cell.warp);
    CHECK(strip.issue == cell.issue);
    CHECK(strip.phase == cell.phase);
    CHECK(std::any_of(strip.banks[static_cast<std::size_t>(cell.bank)].begin(), strip.banks[static_cast<std::size_t>(cell.bank)].end(),
                      [&](const ServedWord& word) { return word.word == cell.byte / 4; }));
  }
}

TEST_CASE("without an access there are no phases, and the head says so", "[app]") {
  const auto machine = load_machine("h100");
  REQUIRE(machine);
  const auto view = view_of(plain(""), *machine);
  REQUIRE(view);
  CHECK(phase_steps(*view) == 0);
  CHECK_FALSE(step_of(*view, view->at(0, 0)));
  CHECK_FALSE(mentions(head_text(*view), "-way"));
}

TEST_CASE("alternatives become rows that say why they were not taken", "[app]") {
  LayoutView view = by_hand();
  view.alternatives.resize(3);
  view.alternatives[0].layout = "panels 128";
  view.alternatives[0].instruction.name = "st.shared.8";
  view.alternatives[0].instruction.exchange = {2, 3};
  view.alternatives[0].cost = {true, 128, 128, 16, 1024, 1};
  view.alternatives[0].current = true;
  view.alternatives[1].layout = "panels 128";
  view.alternatives[1].instruction.name = "st.shared.8";
  view.alternatives[1].cost = {true, 256, 128, 16, 0, 2};
  view.alternatives[2].layout = "panels 64";
  view.alternatives[2].instruction.name = "stmatrix.x4";
  view.alternatives[2].refused = "stmatrix.x4 moves elements of 16 bits, and these have 32";
  view.bounds = {2688, 2944, 0};
  std::vector<LayoutChoiceRow> rows = layout_choice_rows(view);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].instruction == "st.shared.8, lane bit 2 exchanging register bit 3");
  CHECK(rows[0].current);
  CHECK(rows[1].bound == 2944);
  CHECK_FALSE(rows[1].why.empty());
  CHECK_FALSE(rows[2].possible);
  CHECK(mentions(rows[2].why, "16 bits"));
  const std::string text = table_as_text(layout_choice_columns(), rows);
  CHECK(mentions(text, "layout\tinstruction\tport\tways\tissue\tbytes\tregs\tII at least\twhy not\n"));
  // What is not known comes last, whichever way the table is sorted.
  sort_by(rows, layout_choice_columns(), {"II at least", true});
  CHECK(rows.back().index == 2);
}

TEST_CASE("a row of the list is found by its op, else by its value", "[app]") {
  std::vector<LayoutListRow> rows(3);
  rows[0].value = "dq", rows[0].op = "store_dq", rows[0].instruction = "st.shared.8";
  rows[0].accessed = true;
  rows[0].cost = {true, 4, 2, 1, 0, 2};
  rows[1].value = "ds", rows[1].op = "store_ds";
  rows[2].value = "s";
  CHECK(list_label(rows[0]) == "dq · store_dq · st.shared.8 x2");
  CHECK(list_label(rows[2]) == "s");
  CHECK(find_row(rows, "", "store_ds") == std::size_t{1});
  CHECK(find_row(rows, "dq", "gone") == std::size_t{0});
  CHECK(find_row(rows, "s", "") == std::size_t{2});
  CHECK_FALSE(find_row(rows, "nothing", "gone"));
  CHECK_FALSE(find_row({}, "", ""));
}

TEST_CASE("a shape is read as people write it", "[app]") {
  std::string fault;
  using Shape = std::vector<std::int64_t>;
  CHECK(read_shape("64 x 128", fault) == Shape{64, 128});
  CHECK(read_shape("(64, 128)", fault) == Shape{64, 128});
  CHECK(read_shape("", fault).empty());
  CHECK(fault.empty());
  for (const char* bad : {"64 by 2", "-3", "0", "99999999999999999999", "1x1x1x1x1x1x1x1x1", "64x\xff"}) {
    CHECK(read_shape(bad, fault).empty());
    CHECK_FALSE(fault.empty());
  }
}

TEST_CASE("views are worked out in the background, one after the other, and kept", "[app]") {
  const auto loaded = load_machine("h100");
  REQUIRE(loaded);
  LayoutAsk good, bad;
  good.spec.machine = bad.spec.machine = std::make_shared<const Machine>(*loaded);
  good.text = plain("ldmatrix.x4");
  bad.text = plain("");
  bad.text->text = "Sw<30,30,30> o (64,64):(64,1)";
  LayoutViews views;
  LayoutViews::Answer first, second;
  REQUIRE(test::wait_until([&] { return first && second; },
                           [&] {
                             views.begin_frame();
                             first = views.want(good);
                             second = views.want(bad);
                             views.end_frame();
                           }));
  REQUIRE(first->view);
  CHECK(first->of == good);
  CHECK_FALSE(second->view);
  CHECK_FALSE(second->error.faults.empty());
  views.begin_frame();
  CHECK(views.want(good) == first);
  views.end_frame();
  CHECK_FALSE(views.working());
  LayoutAsk other = good;
  other.text->dtype = DType::F32;
  CHECK_FALSE(other == good);
}
