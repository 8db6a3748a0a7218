// A monkey at the window: random moves, clicks, drags, wheels, keys, text, files, sizes and commands, the same for the same
// seed. HEDDLE_SEED=N replaces the seed, HEDDLE_MONKEY_TRACE=1 prints every input to standard error; the last inputs are kept in
// tests/support/last_inputs.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/window/gated_solver.h"
#include "tests/support/window/harness.h"
#include "tests/support/window/random_command.h"

namespace heddle::test {

/// HEDDLE_SEED, or the given one.
std::uint64_t seed_or(std::uint64_t usual);

/// A folder of good and broken files for the monkey to open and write, and the current folder, home and configuration of
/// the process while it lives.
class Cage {
 public:
  explicit Cage(Random& random);
  ~Cage();
  const std::vector<std::string>& files() const { return files_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_, before_;
  std::vector<std::string> files_;
};

class Monkey {
 public:
  /// `solver`: whose gate it opens now and then; null where jobs run as they like.
  Monkey(Harness& harness, const Cage& cage, Random& random, GatedSolver* solver);
  /// One input of any kind and a few frames.
  void act();
  /// Lets go of everything it holds.
  void rest();

 private:
  void look();
  void press(int button);
  void drag();
  void keys();
  void keys_of(app::Key key);
  Modifiers modifiers();
  void point();
  void note(std::string what);
  void frames(std::size_t count);

  Harness& harness_;
  const Cage& cage_;
  Random& random_;
  GatedSolver* solver_;
  std::size_t count_ = 0;
};

}  // namespace heddle::test
