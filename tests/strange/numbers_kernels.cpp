// Kernels whose ops are only numbers: every shape that a dependence graph can have.
#include <fmt/format.h>

#include "tests/strange/documents.h"

namespace heddle::strange {
namespace {

struct Defined {
  std::string name;
  std::size_t op;
  std::int64_t bytes;
  std::string space;
  int readers = 0;
};

class NumbersBuilder {
 public:
  NumbersBuilder(Dice& dice, const Document& machine) : dice_(dice), names_(dice), machine_(machine), limits_(machine["limits"]) {}

  Document build() {
    kernel_ = {{"schema", "heddle.kernel/1"}, {"name", names_.name("odd_numbers")}};
    params();
    if (dice_.chance(50)) kernel_["max_groups"] = dice_.chance(80) ? dice_.between(1, 4) : 32;
    count_ = dice_.chance(15)   ? 1
             : dice_.chance(70) ? dice_.between(2, 6)
             : dice_.chance(85) ? dice_.between(7, 14)
                                : dice_.between(20, 60);
    shape_ = dice_.between(0, 4);
    invariants();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) op(i);
    carried_inputs();
    order();
    kernel_["values"] = values_;
    if (!prologue_.empty()) kernel_["prologue"] = prologue_;
    kernel_["body"] = body_;
    epilogue();
    return kernel_;
  }

 private:
  void params() {
    Document list = Document::array();
    for (std::int64_t n = dice_.between(0, 2); n > 0; --n) {
      Document param{{"name", names_.identifier("P")},
                     {"value", dice_.chance(70) ? dice_.between(1, 64) : dice_.odd(1, std::int64_t{1} << 31)}};
      if (dice_.chance(40)) param["eval"] = dice_.between(1, 4);
      if (dice_.chance(40)) param["choices"] = {param["value"], dice_.between(1, 9), 1};
      params_.push_back(param["name"]);
      list.push_back(param);
    }
    if (!list.empty()) kernel_["params"] = list;
    Document grid = Document::array();
    for (std::int64_t n = dice_.between(0, 3); n > 0; --n) grid.push_back({{"name", names_.identifier("b")}, {"size", size()}});
    if (!grid.empty()) kernel_["grid"] = grid;
    if (dice_.chance(75)) {
      kernel_["loop"] = {{"trips", size()}};
      if (dice_.chance(50)) kernel_["loop"]["variable"] = names_.identifier("i");
    }
  }

  Document size() {
    if (!params_.empty() && dice_.chance(50)) {
      const std::string& p = dice_.pick(params_);
      return dice_.chance(50) ? Document(p) : Document(fmt::format("max(1, ceil_div({}, {}))", p, dice_.between(1, 8)));
    }
    return dice_.chance(80) ? dice_.between(1, 12) : dice_.odd(1, std::int64_t{1} << 31);
  }

  /// The bytes of a value that fits, whatever else there is.
  std::int64_t declare(const std::string& name, std::string& space) {
    const std::int64_t warps = 1, threads = limits_.value("threads_per_warp", std::int64_t{32}) * warps;
    if (space == "tmem" && limits_["tmem_columns"].get<std::int64_t>() == 0) space = "smem";
    std::int64_t elements = 1;
    if (space == "register")
      elements = std::min<std::int64_t>(dice_.pick({1, 2, 64, 512}), limits_["registers_per_thread"].get<std::int64_t>() * threads / 16);
    if (space == "smem")
      elements = std::min<std::int64_t>(dice_.pick({1, 3, 16, 256, 4096}), limits_["smem_bytes"].get<std::int64_t>() / 64);
    if (space == "tmem") elements = std::min<std::int64_t>(dice_.pick({1, 8, 32}), limits_["tmem_columns"].get<std::int64_t>() / 8);
    elements = std::max<std::int64_t>(elements, 1);
    const std::string dtype = dice_.pick({"f32", "bf16", "f16", "f8e4m3", "f8e5m2", "i32"});
    Document shape = Document::array();
    switch (dice_.between(0, 4)) {
      case 0:
        if (elements == 1) break;
        [[fallthrough]];
      case 1: shape = {elements}; break;
      case 2: shape = {1, elements}; break;
      case 3: shape = {1, 1, 1, elements}; break;
      default: shape = {fmt::format("{}", elements), 1}; break;
    }
    if (space == "tmem" && shape.size() == 1) shape = {1, elements};
    Document value{{"name", name}, {"dtype", dtype}, {"shape", shape}, {"space", space}};
    if (space == "register" && dice_.chance(10)) value["registers"] = dice_.between(0, 8);
    values_.push_back(value);
    return elements * 4;
  }

  std::string any_space() { return dice_.pick({"register", "register", "register", "smem", "smem", "tmem", "global"}); }

  void invariants() {
    for (std::int64_t n = dice_.chance(30) ? dice_.between(1, 2) : 0; n > 0; --n) {
      const std::string name = names_.name("c");
      std::string space = dice_.pick({"register", "smem", "global"});
      declare(name, space);
      prologue_.push_back({{"name", names_.name("start")}, {"kind", "fill"}, {"out", {name}}});
      constants_.push_back(name);
    }
  }

  Document cost(std::int64_t most_warps) {
    const bool far = dice_.chance(4);
    Document cost{{"latency", dice_.chance(15) ? 0
                              : far            ? dice_.odd(0, std::int64_t{1} << 31)
                                               : dice_.between(0, dice_.pick({4, 60, 900}))}};
    const Document& units = machine_["units"];
    Document uses = Document::array();
    for (std::int64_t n = dice_.chance(15) || units.empty() ? 0 : dice_.between(1, 2); n > 0; --n) {
      const Document& unit = units[static_cast<std::size_t>(dice_.between(0, static_cast<std::int64_t>(units.size()) - 1))];
      Document use{{"unit", unit["name"]}};
      if (dice_.chance(80)) use["duration"] = far ? dice_.odd(0, 1 << 20) : dice_.between(0, 40);
      if (dice_.chance(20)) use["offset"] = dice_.between(0, 30);
      if (dice_.chance(30)) use["amount"] = dice_.odd(0, unit.value("capacity", std::int64_t{1}));
      uses.push_back(use);
    }
    cost["uses"] = uses;
    if (dice_.chance(60)) cost["window"] = dice_.chance(30) ? 0 : dice_.between(0, 40);
    if (dice_.chance(40)) cost["warps"] = dice_.between(1, std::min<std::int64_t>(most_warps, 8));
    for (const char* flag : {"aligned", "asynchronous", "variable_latency"})
      if (dice_.chance(20)) cost[flag] = dice_.chance(80);
    if (cost.value("variable_latency", false)) cost["asynchronous"] = true;
    return cost;
  }

  void op(std::size_t i) {
    Document op{{"name", names_.name("v" + std::to_string(i))}, {"kind", "opaque"}};
    Document in = Document::array();
    const auto read = [&](std::size_t which) {
      in.push_back(defined_[which].name);
      ++defined_[which].readers;
    };
    const std::size_t known = defined_.size();
    if (known > 0) switch (shape_) {
        case 0: read(known - 1); break;  // a chain
        case 1: read(0); break;          // a fan
        case 2:
          for (std::size_t k = 0; k < std::min<std::size_t>(known, 12); ++k) read(known - 1 - k);
          break;        // everything before
        case 3: break;  // nothing hangs together
        default:
          for (std::int64_t k = dice_.between(0, 2); k > 0; --k)
            read(static_cast<std::size_t>(dice_.between(0, static_cast<std::int64_t>(known) - 1)));
      }
    if (!constants_.empty() && dice_.chance(30)) in.push_back(dice_.pick(constants_));
    Document out = Document::array();
    for (std::int64_t n = dice_.chance(12) ? 0 : dice_.chance(85) ? 1 : dice_.between(2, 4); n > 0; --n) {
      const std::string name = names_.name("x");
      std::string space = any_space();
      // Onto the storage of the only thing that is read: that op alone reads it, so it is ordered.
      const bool alias = n == 1 && in.size() == 1 && known > 0 && in[0] == defined_[known - 1].name && defined_[known - 1].readers == 1 &&
                         shape_ == 0 && dice_.chance(15);
      if (alias) {
        Document value = *std::find_if(values_.begin(), values_.end(), [&](const Document& v) { return v["name"] == in[0]; });
        value["alias_of"] = in[0];
        value["name"] = name;
        value.erase("registers");
        values_.push_back(value);
        defined_.push_back({name, i, defined_[known - 1].bytes, value["space"], 0});
      } else {
        const std::int64_t bytes = declare(name, space);
        defined_.push_back({name, i, bytes, space, 0});
      }
      out.push_back(name);
    }
    if (!in.empty()) op["in"] = in;
    if (!out.empty()) op["out"] = out;
    if (dice_.chance(30)) op["attrs"] = {{"stands_for", dice_.pick({"mma", "tma_load", "exp2", "nothing known"})}};
    if (dice_.chance(10)) op["attrs"]["odd"] = dice_.chance(50);
    op["cost"] = cost(limits_["warps_per_cta"]);
    if (dice_.chance(5)) op["x-note"] = {{"kept", true}};
    body_.push_back(op);
  }

  /// Recurrences of every distance; they may close on the op itself.
  void carried_inputs() {
    for (std::int64_t n = dice_.between(0, 2); n > 0 && !defined_.empty(); --n) {
      const Defined& value = dice_.pick(defined_);
      Document& op = body_[static_cast<std::size_t>(dice_.between(0, static_cast<std::int64_t>(body_.size()) - 1))];
      const bool shared = std::any_of(values_.begin(), values_.end(), [&](const Document& v) {
        return v.value("alias_of", "") == value.name || (v["name"] == value.name && v.contains("alias_of"));
      });
      if (shared) continue;
      const std::int64_t distance = dice_.chance(60) ? 1 : dice_.chance(70) ? dice_.between(2, 9) : dice_.odd(1, 1 << 20);
      op["in"].push_back(fmt::format("{}[-{}]", value.name, distance));
    }
  }

  void order() {
    Document list = Document::array();
    for (std::int64_t n = dice_.chance(30) ? dice_.between(1, 3) : 0; n > 0; --n) {
      const auto from = static_cast<std::size_t>(dice_.between(0, count_ - 1)), to = static_cast<std::size_t>(dice_.between(0, count_ - 1));
      Document edge{{"from", body_[from]["name"]}, {"to", body_[to]["name"]}};
      if (from >= to) edge["distance"] = dice_.chance(80) ? dice_.between(1, 3) : dice_.odd(1, 1 << 20);
      if (dice_.chance(40)) edge["latency"] = dice_.between(0, 100);
      if (dice_.chance(30)) edge["handoff"] = dice_.between(0, 50);
      list.push_back(edge);
    }
    if (!list.empty()) kernel_["order"] = list;
  }

  void epilogue() {
    if (defined_.empty() || !dice_.chance(20)) return;
    const std::string name = names_.name("end");
    Document value = values_.back();
    value["name"] = name;
    value["space"] = "register";
    value.erase("alias_of");
    kernel_["values"].push_back(value);
    kernel_["epilogue"] = {{{"name", names_.name("last")}, {"kind", "copy"}, {"in", {values_.back()["name"]}}, {"out", {name}}}};
  }

  Dice& dice_;
  Names names_;
  const Document& machine_;
  const Document limits_;
  Document kernel_, values_ = Document::array(), body_ = Document::array(), prologue_ = Document::array();
  std::vector<std::string> params_, constants_;
  std::vector<Defined> defined_;
  std::int64_t count_ = 1, shape_ = 0;
};

}  // namespace

Document numbers_kernel(Dice& dice, const Document& machine) { return NumbersBuilder(dice, machine).build(); }

}  // namespace heddle::strange
