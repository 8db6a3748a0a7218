// Command lines for a world: a recipe per command, options from the command table.
#pragma once

#include <string>
#include <vector>

#include "app/command/command_table.h"
#include "tests/strange/world.h"

namespace heddle::strange {

struct Line {
  std::vector<std::string> words;  ///< without the program's name
  std::string command;
  std::size_t subject = 0;           ///< into the world's
  std::vector<std::string> outputs;  ///< files and folders that it may write
  /// What decides the problem that it is about; lines with the same one speak of the same problem. Without the demands, and those.
  std::string numbers, demands;

  bool has(const std::string& word) const;
  /// The value of an option; empty when it is not given.
  std::string value(const std::string& flag) const;
};

/// Commands and options of the table for which there is no recipe here; empty when all is well.
std::vector<std::string> missing_recipes();

/// A random line; the command is drawn by what it costs, or given.
Line random_line(Dice& dice, World& world, const std::string& command = {});

}  // namespace heddle::strange
