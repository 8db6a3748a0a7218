// A world: a folder with documents that belong together, and what can be named in command lines about them. It grows: what commands
// write is read by later ones.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "tests/strange/dice.h"

namespace heddle::strange {

/// What a command can be about: a kernel with its machine, a project, a dump's loop.
struct Subject {
  std::vector<std::string> words;  ///< KERNEL and, unless it stands for one, MACHINE
  bool shipped = false;            ///< a large kernel: only what is cheap is asked
  bool dump = false;
  std::optional<Problem> problem;  ///< absent: something is wrong with it
  std::vector<std::string> params;
  std::vector<std::string> tiles;   ///< parameters that are extents of tiles
  std::vector<std::int64_t> loops;  ///< of a dump
  bool computes = false;            ///< its ops can be executed
  std::vector<std::string> schedules;
};

/// How many documents of a kind were made, and how many Heddle read.
struct Share {
  int made = 0, read = 0;
};

struct World {
  std::string folder;
  std::vector<Subject> subjects;
  std::vector<std::string> kernels, machines, constraints, spaces, jobs, results, histories, measurements, dumps, solutions, fronts;
  std::map<std::string, Share> shares;
  int files = 0;

  std::string path(const std::string& name) const { return folder + "/" + name; }
  /// A name that no file has.
  std::string fresh(const std::string& stem, const std::string& ending) { return path(stem + std::to_string(files++) + ending); }
};

/// Writes the documents. The folder must be there.
World make_world(Dice& dice, const std::string& folder);

/// A file that a command wrote takes part from now on.
void adopt(World& world, Subject& subject, const std::string& file);

void write_text(const std::string& path, const std::string& text);
std::string read_text(const std::string& path);

}  // namespace heddle::strange
