// A module of MLIR's printed assembly as a tree of ops, without knowing any dialect: names, operands, results, attributes, types and
// regions are what the text says. Known by name are only ops whose printed form has no general shape: functions, `scf.for`, `scf.if`,
// `scf.while` and `ttg.warp_specialize`.
//
// Everything is an index into one table, so that a module is a cheap value without cycles. SSA names are scoped by region in the text;
// here every definition is a value of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/id.h"
#include "core/base/result.h"

namespace heddle::mlir {

using OpId = Id<struct OpTag>;
using ValueId = Id<struct ValueTag>;
using BlockId = Id<struct BlockTag>;
using RegionId = Id<struct RegionTag>;

/// Bytes of the text.
struct Span {
  std::size_t begin = 0, end = 0;
};

/// Where the source program has an op: the innermost frame that names a file. Line 0: the text does not say.
struct Location {
  std::string file;
  int line = 0, column = 0;
  std::string name;                                  ///< of the Python variable, where the text has it; may be empty
  std::vector<std::pair<std::string, int>> callers;  ///< file and line of the frames around it, innermost first
};

struct Attribute {
  std::string name;   ///< "loop.stage", without quotes
  std::string value;  ///< as printed: "2 : i32", "array<i32: 1, 0>"; empty for a unit attribute
  Span span;          ///< of "name = value" in the text
};

/// A result of an op or an argument of a block.
struct Value {
  std::string name;                     ///< as printed, without %: "acc_29"; results of a pack "acc#1"
  std::string type;                     ///< as printed, aliases left in place; empty where the text does not print it beside the value
  OpId definer;                         ///< invalid for block arguments
  BlockId block;                        ///< of block arguments: whose
  std::size_t index = 0;                ///< which result, or which argument
  std::vector<Attribute> attributes{};  ///< of arguments of functions: "tt.divisibility"
};

struct Op {
  std::string name;                        ///< "tt.load", quotes of the generic form removed
  std::vector<ValueId> results, operands;  ///< operands in the order of the text; `scf.for`: low, high, step, then the initial values
  /// How many operands each bracket group after the first holds is not kept, but which operand stands in brackets is: "%s[%tok]".
  std::vector<bool> bracketed;            ///< parallel to `operands`
  std::vector<Attribute> attributes;      ///< of all dictionaries: `{}`, `<{}>` and `attributes {}`
  std::vector<std::string> types;         ///< after ":", before "->" or "to", split at commas (and " * ") of the outer level
  std::vector<std::string> result_types;  ///< after "->" or "to"; empty where there is none
  std::string words;  ///< what stands between name and type and is no operand or attribute: "slt," of a compare, "x" of a program id,
                      ///< "dense<0.0>" of a constant, "@callee" of a call
  std::vector<RegionId> regions;
  BlockId parent;                    ///< invalid at the top
  std::size_t location = 0;          ///< index into Module::locations
  int line = 0;                      ///< in the text, from 1
  Span span;                         ///< from its first result to the end of its line (of its last line, where it has regions)
  Span dictionary;                   ///< of its last `{...}` dictionary, braces included; empty where it has none
  std::size_t dictionary_place = 0;  ///< where one would be printed: behind the operands or the last region

  const Attribute* find(std::string_view attribute) const;
  /// The leading integer of an attribute: 2 of "2 : i32"; `fallback` where it is absent, none, or needs more than 32 bits.
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
};

struct Block {
  std::vector<ValueId> arguments;
  std::vector<OpId> ops;
  RegionId parent;
};

struct Region {
  std::vector<BlockId> blocks;
  OpId parent;
  std::string label;        ///< "default", "partition0", "then", "else" ...; may be empty
  std::int64_t warps = -1;  ///< what `num_warps(4)` says; -1: nothing
};

struct Module {
  std::string file;     ///< for messages
  std::string text;     ///< spans are of it
  std::vector<Op> ops;  ///< in the order of the text; a region's ops come after the op that has it
  std::vector<Value> values;
  std::vector<Block> blocks;
  std::vector<Region> regions;
  std::vector<Location> locations;                          ///< [0] is the unknown one
  std::map<std::string, std::string, std::less<>> aliases;  ///< "#mma" -> "#ttg.nvidia_mma<{...}>"; those of locations are resolved above
  std::vector<Attribute> attributes;                        ///< of `module attributes {...}`
  std::vector<OpId> functions;

  const Op& op(OpId id) const { return ops[id.index()]; }
  const Value& value(ValueId id) const { return values[id.index()]; }
  const Block& block(BlockId id) const { return blocks[id.index()]; }
  const Region& region(RegionId id) const { return regions[id.index()]; }
  const Location& location(const Op& op) const { return locations[op.location]; }
  const Attribute* find(std::string_view attribute) const;

  /// The op whose region holds this one; invalid at the top.
  OpId around(OpId id) const;
  /// The only block of an op's only (or n-th) region; nullptr where there is none.
  const Block* body(OpId id, std::size_t region = 0) const;
};

/// What is wrong has "line:column" as its pointer. At most 64 faults, 2^16 ops, nesting to 64: more is refused.
/// Never throws, takes time linear in the text.
Result<Module> parse(std::string text, std::string file);

}  // namespace heddle::mlir
