// Kernels that compute: ops of every kind of the catalogue, put together so that shapes fit and everything that is read is defined.
#include <fmt/format.h>

#include <functional>

#include "core/kernel/op_kind.h"
#include "tests/strange/documents.h"

namespace heddle::strange {
namespace {

/// An extent: a number, or a parameter, whose size at evaluation is another one. Equal means the same text.
struct Extent {
  Document text;
  std::int64_t value;
};

struct Tile {
  std::string name, dtype, space;
  std::vector<std::size_t> shape;  ///< into the extents
  bool readable = true;            ///< false: accumulated in place, only the epilogue may look
};

class ExecutableBuilder {
 public:
  ExecutableBuilder(Dice& dice, const Document& machine) : dice_(dice), names_(dice), limits_(machine["limits"]) {}

  Document build() {
    kernel_ = {{"schema", "heddle.kernel/1"}, {"name", names_.name("odd_tiles")}};
    extents();
    loop();
    if (dice_.chance(50)) kernel_["max_groups"] = dice_.between(1, 4);
    start();
    for (std::int64_t n = dice_.chance(15) ? 1 : dice_.between(2, 8); n > 0; --n) body_op();
    if (body_.empty()) fill(body_, any_matrix(), "register");
    finish();
    if (!params_.empty()) kernel_["params"] = params_;
    if (!tensors_.empty()) kernel_["tensors"] = tensors_;
    kernel_["values"] = values_;
    if (!prologue_.empty()) kernel_["prologue"] = prologue_;
    kernel_["body"] = body_;
    if (!epilogue_.empty()) kernel_["epilogue"] = epilogue_;
    return kernel_;
  }

 private:
  using Shape = std::vector<std::size_t>;

  // ---- names and sizes

  void extents() {
    extents_ = {{1, 1}, {dice_.pick({2, 3, 4, 8}), 0}, {dice_.pick({4, 5, 16}), 0}};
    for (Extent& e : extents_) e.value = e.text;
    if (dice_.chance(60)) {
      const std::string name = names_.identifier("T");
      const std::int64_t value = dice_.pick({1, 2, 6, 8, 16});
      Document param{{"name", name}, {"value", value}};
      if (dice_.chance(50)) param["eval"] = dice_.pick({1, 2, 4});
      if (dice_.chance(50)) param["choices"] = {value, 2, 1};
      params_.push_back(param);
      extents_.push_back({name, value});
    }
  }

  void loop() {
    Document trips = dice_.between(1, 4);
    if (dice_.chance(50)) {
      const std::string name = names_.identifier("N");
      params_.push_back(
          {{"name", name}, {"value", dice_.chance(80) ? dice_.between(1, 16) : dice_.odd(1, 1 << 20)}, {"eval", dice_.between(1, 3)}});
      trips = name;
    }
    Document grid = Document::array();
    for (std::int64_t n = dice_.between(0, 2); n > 0; --n) {
      blocks_.push_back(names_.identifier("b"));
      grid.push_back({{"name", blocks_.back()}, {"size", dice_.chance(60) ? 1 : dice_.between(1, 3)}});
    }
    if (!grid.empty()) kernel_["grid"] = grid;
    variable_ = names_.identifier("i");
    kernel_["loop"] = {{"variable", variable_}, {"trips", trips}};
    if (dice_.chance(15)) kernel_["loop"]["tile_trips"] = blocks_.empty() ? Document(1) : Document(fmt::format("{} + 1", blocks_[0]));
  }

  Shape any_matrix() { return {extent(), extent()}; }
  std::size_t extent() { return static_cast<std::size_t>(dice_.between(0, static_cast<std::int64_t>(extents_.size()) - 1)); }

  Document shape_text(const Shape& shape) const {
    Document text = Document::array();
    for (const std::size_t e : shape) text.push_back(extents_[e].text);
    return text;
  }

  std::string space_for(std::string space) const {
    return space == "tmem" && limits_["tmem_columns"].get<std::int64_t>() < 64 ? "register" : space;
  }

  Tile& declare(const Shape& shape, const std::string& space, const std::string& dtype) {
    Tile tile{names_.name("t"), dtype, space_for(space), shape, true};
    values_.push_back({{"name", tile.name}, {"dtype", dtype}, {"shape", shape_text(shape)}, {"space", tile.space}});
    tiles_.push_back(tile);
    return tiles_.back();
  }

  std::string any_type() { return dice_.pick({"f32", "f32", "bf16", "f16", "f8e4m3", "f8e5m2", "i32"}); }
  std::string any_space() { return dice_.pick({"register", "register", "register", "smem", "tmem"}); }

  const Tile* find(const std::function<bool(const Tile&)>& fits) {
    std::vector<const Tile*> found;
    for (const Tile& tile : tiles_)
      if (tile.readable && fits(tile)) found.push_back(&tile);
    return found.empty() ? nullptr : dice_.pick(found);
  }
  const Tile* matrix() {
    return find([](const Tile& t) { return t.shape.size() == 2; });
  }
  const Tile* of_shape(const Shape& shape) {
    return find([&](const Tile& t) { return t.shape == shape; });
  }

  // ---- ops

  Document& push(Document& list, const std::string& kind, const std::vector<std::string>& in, const std::string& out) {
    Document op{{"name", names_.name(kind)}, {"kind", kind}};
    if (!in.empty()) op["in"] = in;
    if (!out.empty()) op["out"] = {out};
    if (&list == &body_ && dice_.chance(15)) op["cost"] = {{"latency", dice_.between(0, 50)}};
    list.push_back(op);
    return list.back();
  }

  void fill(Document& list, const Shape& shape, const std::string& space) {
    const Tile tile = declare(shape, space, any_type());
    Document& op = push(list, "fill", {}, tile.name);
    if (dice_.chance(70)) op["attrs"]["value"] = number();
  }

  Document number() {
    if (dice_.chance(30)) return dice_.between(-3, 3);
    return dice_.pick({"0", "0.5", "-1", "1e-30", "3e38", "-inf", "inf", "1e300", "nan"});
  }

  /// Some coordinate of some block; outside is allowed.
  Document place(bool in_body) {
    std::vector<std::string> names = blocks_;
    if (in_body) names.push_back(variable_);
    if (names.empty() || dice_.chance(40)) return dice_.between(-2, 3);
    return fmt::format("{} * {} - {}", dice_.pick(names), dice_.between(0, 8), dice_.between(0, 2));
  }

  /// A tensor for boxes of this shape: sometimes with a dimension more.
  Document& access(Document& op, const Shape& shape, const std::string& dtype, const char* role, bool in_body) {
    Document extents = Document::array(), at = Document::array();
    for (std::size_t i = 0; i < shape.size() + (dice_.chance(25) ? 1 : 0); ++i) {
      extents.push_back(dice_.pick({1, 7, 16, 40}));
      at.push_back(place(in_body));
    }
    if (extents.empty()) extents.push_back(3), at.push_back(place(in_body));
    const std::string name = names_.name("G");
    tensors_.push_back({{"name", name}, {"dtype", dtype}, {"shape", extents}, {"role", role}});
    op["tensor"] = name;
    op["at"] = at;
    return op;
  }

  void load(Document& list) {
    const bool tma = dice_.chance(60);
    const Shape shape = dice_.chance(25) ? Shape{extent()} : any_matrix();
    const Tile tile = declare(shape, tma ? "smem" : "register", any_type());
    access(push(list, tma ? "tma_load" : "load", {}, tile.name), shape, tile.dtype, dice_.chance(90) ? "input" : "inout", &list == &body_);
  }

  void store(Document& list, const Tile& tile) {
    const std::string kind = dice_.pick({"store", "tma_store", "atomic_add"});
    access(push(list, kind, {tile.name}, ""), tile.shape, dice_.chance(70) ? tile.dtype : any_type(), dice_.chance(60) ? "output" : "inout",
           &list == &body_);
  }

  void start() {
    for (std::int64_t n = dice_.between(0, 2); n > 0; --n) dice_.chance(50) ? fill(prologue_, any_matrix(), any_space()) : load(prologue_);
  }

  void product() {
    const Tile* found = matrix();
    if (!found) return load(body_);
    const Tile a = *found;
    const bool ta = dice_.chance(25), tb = dice_.chance(40);
    const std::size_t m = a.shape[ta ? 1 : 0], k = a.shape[ta ? 0 : 1];
    const Tile* other = find([&](const Tile& t) { return t.shape.size() == 2 && t.shape[tb ? 1 : 0] == k; });
    if (!other) {
      const std::size_t n = extent();
      fill(prologue_, tb ? Shape{n, k} : Shape{k, n}, "smem");
      other = &tiles_.back();
    }
    const Tile b = *other;
    const Shape shape{m, b.shape[tb ? 0 : 1]};
    const bool accumulate = dice_.chance(50);
    const Tile d = declare(shape, dice_.pick({"register", "tmem"}), "f32");
    std::vector<std::string> in{a.name, b.name};
    if (accumulate) {
      push(prologue_, "fill", {}, d.name)["attrs"]["value"] = "0";
      in.push_back(d.name + "[-1]");
      tiles_.back().readable = d.space == "register";
    }
    Document& op = push(body_, "mma", in, d.name);
    if (ta || dice_.chance(10)) op["attrs"]["transpose_a"] = ta;
    if (tb || dice_.chance(10)) op["attrs"]["transpose_b"] = tb;
  }

  void reduction() {
    const Tile* found = dice_.chance(90) ? matrix() : find([](const Tile& t) { return t.shape.size() == 1; });
    if (!found) return load(body_);
    const Tile a = *found;
    const std::string kind =
        dice_.pick({"reduce_max", "reduce_sum", "reduce_max", "reduce_sum", "reduce_min", "reduce_xor", "reduce_argmax"});
    const std::int64_t axis = dice_.between(0, 1);
    const Shape shape{a.shape.size() == 1 ? 0 : a.shape[axis == 0 ? 1 : 0]};  // a vector becomes one number
    std::vector<std::string> in{a.name};
    const Tile r = declare(shape, "register", "f32");
    if (kind != "reduce_argmax" && dice_.chance(40)) {
      push(prologue_, "fill", {}, r.name)["attrs"]["value"] = "0";
      in.push_back(r.name + (dice_.chance(80) ? "[-1]" : "[-2]"));
      if (kind == "reduce_sum" && dice_.chance(30)) in.push_back(r.name + "[-1]");
    }
    Document& op = push(body_, kind, in, r.name);
    if (axis == 0 || dice_.chance(30)) op["attrs"]["axis"] = axis;
    if (kind != "reduce_xor" && kind != "reduce_argmax" && dice_.chance(30)) op["attrs"]["scale"] = dice_.pick({"0.5", "-2", "1e-3"});
    if (kind == "reduce_sum" && dice_.chance(30)) op["attrs"]["mean"] = true;
  }

  /// A chain over a tile, other tiles of its shape and vectors along its rows or columns.
  void chain() {
    const Tile* found = find([](const Tile&) { return true; });
    if (!found) return load(body_);
    const Tile a = *found;
    std::vector<std::string> in{a.name};
    std::string along = "f", expr = dice_.pick({"x0", "exp2(x0 * 0.5)", "max(x0, 0)", "select(col <= row, x0, -inf)", "bf16(x0) / 3"});
    while (in.size() < 8 && dice_.chance(50)) {
      const bool vector = a.shape.size() == 2 && dice_.chance(50), rows = dice_.chance(50);
      const Tile* other = vector ? of_shape({a.shape[rows ? 0 : 1]}) : of_shape(a.shape);
      const std::string x = fmt::format("x{}", in.size());
      expr = dice_.pick(std::vector<std::string>{expr + " + " + x, "(" + expr + ") * " + x, "min(" + expr + ", " + x + ")"});
      in.push_back(other ? other->name : a.name);
      along += other && vector ? (rows ? 'r' : 'c') : 'f';
    }
    if (dice_.chance(30)) expr = "t = " + expr + "; t * t - x0";
    const Tile r = declare(a.shape, "register", any_type());
    Document& op = push(body_, "map", in, r.name);
    op["attrs"]["expr"] = expr;
    op["attrs"]["along"] = along;
    if (dice_.chance(20)) op["attrs"][dice_.pick({"fma", "alu", "mufu"})] = dice_.between(0, 40);
    if (dice_.chance(20)) op["at"] = {place(true), place(true)};
  }

  void elements() {
    const Tile* found = find([](const Tile&) { return true; });
    if (!found) return load(body_);
    const Tile a = *found;
    const bool exp = dice_.chance(25);
    std::vector<std::string> in{a.name};
    std::int64_t axis = 0;
    for (std::int64_t n = exp ? dice_.between(0, 1) : dice_.between(0, 2); n > 0; --n) {
      const bool vector = a.shape.size() == 2 && dice_.chance(40);
      if (vector) axis = dice_.between(0, 1);
      const Tile* other = vector && n == 1 ? of_shape({a.shape[static_cast<std::size_t>(axis)]}) : of_shape(a.shape);
      if (!other) other = &a;
      in.push_back(other->name);
    }
    const Tile r = declare(a.shape, "register", any_type());
    Document& op = push(body_, exp ? "exp2" : "elementwise", in, r.name);
    if (!exp) {
      // Mostly one that takes so many operands, or one more of which the last is the attribute.
      const bool fits = dice_.chance(95), lacks = dice_.chance(40);
      std::vector<std::string> functions;
      for (const ElementwiseFunction& fn : elementwise_functions())
        if (!fits || fn.operands == static_cast<int>(in.size()) + (lacks && in.size() < 3 ? 1 : 0)) functions.emplace_back(fn.name);
      op["attrs"]["fn"] = dice_.pick(functions);
      if (lacks) op["attrs"]["value"] = number();
    } else if (dice_.chance(30)) {
      op["attrs"]["emulated"] = dice_.between(0, 100);
    }
    if (axis != 0) op["attrs"]["axis"] = axis;
    if (dice_.chance(30)) op["attrs"]["scale"] = dice_.pick({"2", "-0.125", "0"});
  }

  void same(const char* kind, const std::string& space) {
    const Tile* found = std::string(kind) == "tmem_load" || std::string(kind) == "mask" ? matrix() : find([](const Tile&) { return true; });
    if (!found) return load(body_);
    const Tile a = *found;
    const Tile r = declare(a.shape, space, std::string(kind) == "convert" ? any_type() : a.dtype);
    Document& op = push(body_, kind, {a.name}, r.name);
    if (std::string(kind) == "mask") {
      op["at"] = {place(true), place(true)};
      if (dice_.chance(60)) op["attrs"]["value"] = "-inf";
    }
  }

  void broadcast() {
    const Tile* found = find([](const Tile& t) { return t.shape.size() == 1; });
    if (!found) return reduction();
    const Tile a = *found;
    const std::int64_t axis = dice_.between(0, 1);
    const Tile r = declare(axis == 0 ? Shape{a.shape[0], extent()} : Shape{extent(), a.shape[0]}, "register", a.dtype);
    Document& op = push(body_, "broadcast", {a.name}, r.name);
    if (axis == 1) op["attrs"]["axis"] = 1;
  }

  void gather() {
    const Tile* found = find([](const Tile& t) { return t.shape.size() == 1; });
    if (!found) {
      fill(prologue_, {extent()}, "register");
      found = &tiles_.back();
    }
    const Tile index = *found;
    const Tile r = declare({index.shape[0], extent()}, "smem", any_type());
    Document& op = push(body_, "gather", {index.name}, r.name);
    const std::string name = names_.name("G");
    tensors_.push_back({{"name", name}, {"dtype", r.dtype}, {"shape", {dice_.between(1, 20), dice_.between(1, 20)}}, {"role", "input"}});
    op["tensor"] = name;
    op["at"] = {0, place(true)};
  }

  void body_op() {
    switch (dice_.between(0, 13)) {
      case 0:
      case 1: return load(body_);
      case 2:
      case 3: return product();
      case 4: return reduction();
      case 5: return dice_.chance(40) ? chain() : elements();
      case 6: return elements();
      case 7: return broadcast();
      case 8: return gather();
      case 9: return same(dice_.chance(50) ? "convert" : "copy", any_space());
      case 10: return same("mask", "register");
      case 11: return dice_.chance(50) ? same("smem_store", "smem") : same("smem_load", "register");
      case 12: return dice_.chance(50) ? same("tmem_store", "tmem") : same("tmem_load", "register");
      default: {
        if (dice_.chance(40)) return fill(body_, dice_.chance(70) ? any_matrix() : Shape{}, "register");
        const Tile* tile = find([](const Tile&) { return true; });
        return tile ? store(body_, Tile(*tile)) : load(body_);
      }
    }
  }

  /// What is left goes out, or is forgotten.
  void finish() {
    for (const Tile& tile : std::vector<Tile>(tiles_))
      if (dice_.chance(30)) store(epilogue_, tile);
  }

  Dice& dice_;
  Names names_;
  const Document limits_;
  Document kernel_, params_ = Document::array(), tensors_ = Document::array(), values_ = Document::array();
  Document prologue_ = Document::array(), body_ = Document::array(), epilogue_ = Document::array();
  std::vector<Extent> extents_;
  std::vector<Tile> tiles_;
  std::vector<std::string> blocks_;
  std::string variable_;
};

}  // namespace

Document executable_kernel(Dice& dice, const Document& machine) { return ExecutableBuilder(dice, machine).build(); }

}  // namespace heddle::strange
