// What there is to choose of a compiler's dump, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/dump_source.h"

namespace heddle::app {

struct LoopChoice {
  std::int64_t id = 0;
  std::string name;   ///< "loop 0 in 1"
  std::string facts;  ///< "31 ops · II 1 325"
  bool current = false;
};

struct DumpModel {
  std::string file;    ///< its name, and the variants where there are some
  std::string format;  ///< "schedule_graph 0.1"
  std::string about;   ///< who made it, what its limits are
  std::vector<LoopChoice> loops;
};

DumpModel build_dump(const DumpSource& source);
/// "tmem_load 128x64 f32 · ttng.tmem_load, node 8 · cycle 1 322, stage 0, wg3"
std::string describe_node(const dump::Node& node);
/// The loop that a node stands for, where the file has it.
std::optional<std::int64_t> loop_inside(const DumpSource& source, const dump::Node& node);

}  // namespace heddle::app
