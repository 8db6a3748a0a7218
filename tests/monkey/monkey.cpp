// What the monkey does, and where it may do it.
#include "tests/monkey/monkey.h"

#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "app/session/commands.h"
#include "core/base/text_style.h"
#include "tests/support/last_inputs.h"
#include "tests/support/mutate_json.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

namespace heddle::test {

using namespace heddle::app;
namespace fs = std::filesystem;

namespace {

/// That the solver may take: what is found and proved by then depends on how busy the machine is.
const std::vector<double> kSeconds{0.001, 0.01, 0.1, 5};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::uint64_t seed_or(std::uint64_t usual) {
  const char* given = std::getenv("HEDDLE_SEED");
  return given && *given ? std::strtoull(given, nullptr, 10) : usual;
}

Cage::Cage(Random& random) : folder_(fs::temp_directory_path() / fmt::format("heddle_monkey_{}", ::getpid())), before_(fs::current_path()) {
  fs::remove_all(folder_);
  fs::create_directories(folder_ / "deep" / "deeper");
  for (const char* variable : {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
    ::setenv(variable, folder_.c_str(), 1);
  fs::current_path(folder_);
  const auto add = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    files_.push_back((folder_ / name).string());
  };
  for (const char* file : {"kernels/toy_fig1.json", "kernels/gemm_hopper.json", "assets/machines/toy.json", "tests/golden/schedule.json",
                           "tests/golden/constraints.json", "tests/golden/changes.json"}) {
    const std::string text = text_of(repository_path(file));
    const std::string name = fs::path(file).filename().string();
    add(name, text);
    for (int i = 0; i < 3; ++i) add(fmt::format("broken{}_{}", i, name), mutate_json(text, random));
  }
  const std::string triton = text_of(repository_path("tests/triton/texts/gemm_descriptors.sm90.scheduled.ttgir"));
  add("gemm.ttgir", triton);
  add("cut.ttgir", triton.substr(0, pick(random, triton.size())));
  add("empty.json", "");
  add("zeros.json", std::string(100, '\0'));
  files_.push_back((folder_ / "deep").string());
  files_.push_back((folder_ / "no such file.json").string());
  files_.push_back((folder_ / "no such folder" / "file.json").string());
}

Cage::~Cage() {
  fs::current_path(before_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Monkey::Monkey(Harness& harness, const Cage& cage, Random& random, GatedSolver* solver)
    : harness_(harness), cage_(cage), random_(random), solver_(solver) {
  harness_.window().ui().open_dialog.folder = cage_.folder().string();
}

void Monkey::note(std::string what) {
  static const bool aloud = std::getenv("HEDDLE_MONKEY_TRACE") != nullptr;
  what = printable(fmt::format("{} {}", count_, what));
  if (aloud) fmt::print(stderr, "{}\n", what);
  remember_input(what);
}

void Monkey::frames(std::size_t count) {
  harness_.platform().set_frame_seconds(chance(random_, 20) ? 1.0f : 1.0f / 60);
  for (std::size_t i = 0; i < count; ++i) {
    harness_.frame();
    harness_.session().requests().quit = false;
    if (solver_) solver_->settle(harness_.session());
    // It may look around in its cage only.
    std::string& folder = harness_.window().ui().open_dialog.folder;
    if (!folder.starts_with(cage_.folder().string())) folder = cage_.folder().string();
  }
}

Modifiers Monkey::modifiers() {
  if (!chance(random_, 4)) return {};
  return {chance(random_, 2), chance(random_, 3), chance(random_, 4)};
}

/// Mostly at something, sometimes at nothing.
void Monkey::point() {
  const probe::Items& items = probe::last_frame();
  float x = 0, y = 0;
  std::string at = "somewhere";
  const auto on_screen = [&](const probe::Rect& r) {
    return r.center_x() >= 0 && r.center_y() >= 0 && r.center_x() < static_cast<float>(harness_.platform().width()) &&
           r.center_y() < static_cast<float>(harness_.platform().height());
  };
  auto it = items.begin();
  for (int tries = 0; tries < 5 && !items.empty(); ++tries) {
    it = items.begin();
    std::advance(it, pick(random_, items.size()));
    if (on_screen(it->second)) break;
  }
  if (!items.empty() && !chance(random_, 5)) {
    const auto between = [&](float a, float b) { return a + (b - a) * static_cast<float>(random_() % 1000) / 1000; };
    at = it->first;
    x = between(it->second.x0, it->second.x1);
    y = between(it->second.y0, it->second.y1);
  } else {
    x = static_cast<float>(random_() % static_cast<unsigned>(harness_.platform().width() + 40)) - 20;
    y = static_cast<float>(random_() % static_cast<unsigned>(harness_.platform().height() + 40)) - 20;
  }
  note(fmt::format("move to {} ({:.0f}, {:.0f})", at, x, y));
  feed_mouse_position(x, y);
  frames(1);
}

void Monkey::press(int button) {
  const Modifiers m = modifiers();
  feed_modifiers(m.ctrl, m.shift, m.alt);
  for (std::size_t times = chance(random_, 5) ? 2 : 1; times-- > 0;) {
    note(fmt::format("press button {}{}{}{}", button, m.ctrl ? " ctrl" : "", m.shift ? " shift" : "", m.alt ? " alt" : ""));
    feed_mouse_button(button, true);
    frames(1);
    feed_mouse_button(button, false);
    frames(1);
  }
  feed_modifiers(false, false, false);
}

void Monkey::drag() {
  const int button = static_cast<int>(chance(random_, 3) ? pick(random_, 3) : 0);
  const Modifiers m = modifiers();
  point();
  feed_modifiers(m.ctrl, m.shift, m.alt);
  note(fmt::format("hold button {}", button));
  feed_mouse_button(button, true);
  frames(1);
  for (std::size_t n = 1 + pick(random_, 6); n-- > 0;) {
    if (chance(random_, 2)) {
      const ImVec2 at = ImGui::GetIO().MousePos;
      feed_mouse_position(at.x + static_cast<float>(random_() % 200) - 100, at.y + static_cast<float>(random_() % 80) - 40);
      note("drag on");
      frames(1);
    } else {
      point();
    }
    if (chance(random_, 15)) keys_of(Key::Escape);
    if (chance(random_, 40)) keys();
  }
  note("let go");
  feed_mouse_button(button, false);
  frames(1);
  feed_modifiers(false, false, false);
}

void Monkey::keys_of(Key key) {
  feed_key(key, true);
  frames(1);
  feed_key(key, false);
  frames(1);
}

void Monkey::keys() {
  const Modifiers m = modifiers();
  const Key key = static_cast<Key>(pick(random_, static_cast<std::size_t>(Key::Count)));
  note(fmt::format("key {}{}{}{}", static_cast<int>(key), m.ctrl ? " ctrl" : "", m.shift ? " shift" : "", m.alt ? " alt" : ""));
  feed_modifiers(m.ctrl, m.shift, m.alt);
  keys_of(key);
  feed_modifiers(false, false, false);
}

void Monkey::act() {
  ++count_;
  Session& session = harness_.session();
  if (in_dialog() && chance(random_, 6)) {
    note("escape");
    return keys_of(Key::Escape);
  }
  switch (pick(random_, 40)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: return point();
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
    case 13: point(); return press(0);
    case 14:
    case 15: point(); return press(1);
    case 16: point(); return press(2);
    case 17:
    case 18:
    case 19:
    case 20: return drag();
    case 21:
    case 22:
    case 23: {
      const Modifiers m = modifiers();
      const float steps = static_cast<float>(pick(random_, 9)) - 4;
      note(fmt::format("wheel {}", steps));
      feed_modifiers(m.ctrl, m.shift, m.alt);
      feed_wheel(steps, chance(random_, 5) ? steps / 2 : 0);
      frames(1);
      return feed_modifiers(false, false, false);
    }
    case 24:
    case 25:
    case 26:
    case 27:
    case 28:
    case 29: return keys();
    case 30: {
      const std::string text = random_text(random_);
      note("type " + text);
      feed_text(text.c_str());
      frames(1);
      return chance(random_, 2) ? keys_of(Key::Enter) : void();
    }
    case 31:
      if (chance(random_, 3)) {
        const std::string& file = pick_of(random_, cage_.files());
        note("drop " + fs::path(file).filename().string());
        harness_.platform().drop_file(file);
      }
      return frames(2);
    case 32:
      if (chance(random_, 6)) {
        static const std::vector<std::pair<int, int>> kUsual{{1280, 720}, {1600, 900}, {900, 560}};
        auto [width, height] = pick_of(random_, kUsual);
        if (chance(random_, 4)) width = 1 + static_cast<int>(random_() % 1600), height = 1 + static_cast<int>(random_() % 1000);
        note(fmt::format("resize {} x {}", width, height));
        harness_.platform().resize(width, height);
      }
      return frames(1);
    case 33:
    case 34:
    case 35:
      if (solver_) {
        if (chance(random_, 12)) solver_->fail_next();
        if (chance(random_, 8)) solver_->allow(pick_of(random_, kSeconds));
        const bool solve = chance(random_, 2);
        note(solve ? "let the solver go on" : "let the question go on");
        solve ? solver_->let_solve() : solver_->let_question();
      }
      return frames(1);
    case 36: return frames(5);
    default: {
      Command command = random_command(random_, session, cage_.files());
      // The last one in the fonts' way: a scale costs a new atlas.
      if (name_of(command) == "use_scale" && !chance(random_, 4)) return;
      note("command " + name_of(command));
      harness_.window().ui().commands.push(std::move(command));
      return frames(2);
    }
  }
}

void Monkey::rest() {
  for (const int button : {0, 1, 2}) feed_mouse_button(button, false);
  feed_modifiers(false, false, false);
  feed_mouse_position(-100, -100);
  frames(2);
  Session& session = harness_.session();
  const auto cancel = [&] {
    session.apply(CancelSolve{});
    session.apply(CancelTriton{});
    for (const Topic topic : kTopics) session.apply(CancelAsk{topic});
  };
  cancel();
  REQUIRE(wait_until([&] { return !(session.live().active() || session.asking()); },
                     [&] {
                       session.pump();
                       cancel();  // what came of one may have begun another
                     }));
  frames(2);
}

}  // namespace heddle::test
