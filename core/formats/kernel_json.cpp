#include "core/formats/kernel_json.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <functional>
#include <set>

#include "core/base/atomic_file.h"
#include "core/formats/cost_members.h"
#include "core/kernel/free_axes.h"
#include "core/kernel/index_data.h"
#include "core/kernel/infer.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/switches.h"
#include "core/kernel/validate.h"

namespace heddle {
namespace {

constexpr const char* kKernelSchema = "heddle.kernel/1";
constexpr std::int64_t kLargestDistance = 1 << 20;
constexpr std::int64_t kMostGroups = 32;

constexpr auto kShape = as::list(as::Expression{}, 0, 8);
/// Brackets and blanks mean something in operands.
struct ValueName : as::Name {
  Json schema(const std::string&, Json& definitions) const {
    return schema::matching(definitions, "value", R"(^[A-Za-z0-9_][A-Za-z0-9_.:/#+(),-]*$)");
  }
};

struct OpKindName : as::Name {
  Json schema(const std::string&, Json&) const {
    std::vector<std::string> kinds;
    for (const OpKind& kind : op_kinds()) kinds.emplace_back(kind.name);
    return schema::words(kinds);
  }
};

/// "s" or "o[-1]": the value of this iteration, or of one iteration ago.
struct OperandText {
  void read(const Cursor& at, Operand& operand) const;
  Json write(const Operand& operand) const {
    return operand.distance == 0 ? operand.value : fmt::format("{}[-{}]", operand.value, operand.distance);
  }
  Json schema(const Operand&, Json& definitions) const {
    return schema::matching(definitions, "operand", R"(^[A-Za-z0-9_][A-Za-z0-9_.:/#+(),-]*(\[-?[0-9]+\])?$)");
  }
};

void OperandText::read(const Cursor& at, Operand& operand) const {
  const auto text = at.label();
  if (!text) return;
  const std::size_t bracket = text->find('[');
  operand.value = text->substr(0, bracket);
  if (bracket == std::string::npos) return;
  operand.distance = 1;  // unless it says something else: a faulty one must not close a cycle
  std::int64_t offset = 0;
  const char* begin = text->data() + bracket + 1;
  const char* end = text->data() + text->size();
  const auto [stop, code] = std::from_chars(begin, end, offset);
  const std::string example = operand.value + "[-1]";
  if (operand.value.empty() || code != std::errc{} || stop + 1 != end || *stop != ']') {
    at.fault(fmt::format("expected a value, or a value of an earlier iteration like {}, found \"{}\"", example, *text));
  } else if (offset > 0) {
    at.fault(fmt::format("reads {} iterations ahead; only earlier iterations can be read", offset),
             fmt::format("did you mean {}[-{}]?", operand.value, offset));
  } else if (offset < -kLargestDistance) {
    at.fault(fmt::format("expected at most {} iterations back, found \"{}\"", kLargestDistance, *text));
  } else {
    operand.distance = static_cast<int>(-offset);
  }
}

struct Attributes {
  void read(const Cursor& at, std::map<std::string, Attr>& attrs) const;
  Json write(const std::map<std::string, Attr>& attrs) const {
    Json object = Json::object();
    for (const auto& [key, attr] : attrs) std::visit([&, &name = key](const auto& value) { object.set(name, Json(value)); }, attr);
    return object;
  }
  Json schema(const std::map<std::string, Attr>&, Json&) const {
    Json types = Json::array().push("boolean").push("integer").push("string");
    return schema::type("object").set("additionalProperties", Json::object().set("type", std::move(types)));
  }
};

/// A value of an attribute, for the schema.
Json attribute_schema(const OpAttribute& attribute) {
  using Type = OpAttribute::Type;
  Json json = Json::object();
  std::string about = attribute.about;
  switch (attribute.type) {
    case Type::Flag: json = schema::type("boolean"); break;
    case Type::Integer: json = schema::integer(attribute.low, attribute.high); break;
    case Type::Text:
    case Type::Expression: json = schema::type("string"); break;
    case Type::Number: {
      Json text = schema::type("string").set("pattern", R"(^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$|^-?(inf(inity)?|nan)$)");
      json.set("anyOf", Json::array().push(schema::type("integer")).push(std::move(text)));
      break;
    }
    case Type::Function: {
      std::vector<std::string> names;
      for (const ElementwiseFunction& f : elementwise_functions()) {
        names.emplace_back(f.name);
        about += fmt::format("{} {}: {}", names.size() == 1 ? ";" : ",", f.name, f.about);
      }
      json = schema::words(names);
      break;
    }
  }
  if (*attribute.standard) about += fmt::format(" (default {})", attribute.standard);
  return json.set("description", about);
}

/// What goes for ops of one kind only: its sentence and its attributes.
Json kind_clause(const OpKind& kind) {
  Json attributes = Json::object(), needed = Json::array();
  for (const OpAttribute& attribute : kind.attributes) {
    attributes.set(attribute.name, attribute_schema(attribute));
    if (attribute.needed) needed.push(attribute.name);
  }
  Json attrs = schema::type("object").set("properties", std::move(attributes));
  if (std::string_view(kind.name) != "opaque") attrs.set("additionalProperties", false);
  Json then = Json::object().set("description", kind.about);
  if (!needed.items()->empty()) {
    attrs.set("required", std::move(needed));
    then.set("required", Json::array().push("attrs"));
  }
  then.set("properties", Json::object().set("attrs", std::move(attrs)));
  Json is = Json::object().set("properties", Json::object().set("kind", Json::object().set("const", kind.name)));
  return Json::object().set("if", is.set("required", Json::array().push("kind"))).set("then", std::move(then));
}

std::vector<Json> kind_clauses() {
  std::vector<Json> clauses;
  for (const OpKind& kind : op_kinds()) clauses.push_back(kind_clause(kind));
  return clauses;
}

void Attributes::read(const Cursor& at, std::map<std::string, Attr>& attrs) const {
  const Json::Object* members = at.json().members();
  if (!members) return at.fault("expected an object, found " + describe(at.json()));
  for (const auto& [key, json] : *members) {
    if (const bool* flag = json.boolean())
      attrs.emplace(key, *flag);
    else if (const std::int64_t* number = json.integer())
      attrs.emplace(key, *number);
    else if (const std::string* text = json.string())
      attrs.emplace(key, *text);
    else
      Cursor(json, pointer_to(at.pointer(), key), at.log())
          .fault(fmt::format("expected true, false, an integer or a string, found {}", describe(json)),
                 json.number() ? fmt::format("write fractions as strings: \"{}\"", json.number_text()) : "");
  }
}

/// true, false or "free".
struct PackingWord {
  void read(const Cursor& at, Packing& packing) const {
    if (const std::string* word = at.json().string(); word && *word == "free")
      packing = Packing::Free;
    else if (const bool* flag = at.json().boolean())
      packing = *flag ? Packing::Packed : Packing::Natural;
    else
      at.fault(fmt::format("expected true, false or \"free\", found {}", describe(at.json())));
  }
  Json write(Packing packing) const { return packing == Packing::Free ? Json("free") : Json(packing == Packing::Packed); }
  Json schema(Packing, Json&) const { return Json::object().set("enum", Json::array().push(true).push(false).push("free")); }
};

/// A part of a structure, a file's name, or numbers.
struct DataOfIndex {
  void read(const Cursor& at, IndexData& data) const {
    if (at.json().items()) return as::list(as::integer(-1, std::numeric_limits<std::int32_t>::max()), 1).read(at, data.numbers);
    const auto text = at.label();
    if (!text) return;
    Result<IndexData> parsed = parse_index_data(*text);
    if (parsed)
      data = *std::move(parsed);
    else
      for (const Fault& f : parsed.error().faults) at.fault(f.message, f.hint);
  }
  Json write(const IndexData& data) const { return data.text.empty() ? as::list(as::any_integer).write(data.numbers) : Json(data.text); }
  Json schema(const IndexData&, Json& definitions) const {
    Json list = as::list(as::integer(-1, std::numeric_limits<std::int32_t>::max()), 1).schema(std::vector<std::int64_t>{}, definitions);
    return Json::object().set("anyOf", Json::array().push(schema::label(definitions)).push(std::move(list)));
  }
};

/// A faulty distance counts as 1, so that it closes no cycle that the file does not have.
struct Distance : as::Integer {
  void read(const Cursor& at, int& distance) const { distance = static_cast<int>(at.integer(low, high).value_or(1)); }
};

}  // namespace

static const char* to_string(TensorRole role) {
  switch (role) {
    case TensorRole::Input: return "input";
    case TensorRole::Output: return "output";
    case TensorRole::InOut: return "inout";
    case TensorRole::Index: return "index";
  }
  return "?";
}

template <class Io>
void visit(Io& io, Param& p) {
  io.required("name", p.name, as::identifier);
  io.required("value", p.value, as::any_integer, "default");
  io.optional("eval", p.eval_value, as::any_integer, "smaller value used by heddle eval");
  io.optional("choices", p.choices, as::list(as::any_integer), "values a tuner may try");
  io.optional("about", p.about);
}

template <class Io>
void visit(Io& io, Condition& c) {
  io.part("", "What must hold of the parameters, or the kernel would not compute what it says.");
  io.required("expr", c.expr, "of the parameters: not 0, like \"KV_LEN % KV == 0\"");
  io.optional("about", c.about, "why");
}

template <class Io>
void visit(Io& io, Tensor& t) {
  io.required("name", t.name, as::name);
  io.required("dtype", t.dtype, as::word("dtype", DType::I4));
  io.required("shape", t.shape, kShape);
  io.required("role", t.role, as::word("role", TensorRole::Index));
  io.unless(t.packing == Packing::Natural, "prepacked", t.packing, PackingWord{},
            "its bytes are in the order in which the threads of an mma take them (docs/files.md); free: if layouts say so");
  io.optional(
      "data", t.data, DataOfIndex{},
      "of an index tensor: a part of a structure like \"bigbird(rows=64, seed=1).colidx\", a file of 32-bit integers, or the numbers");
  io.optional("below", t.below, "of an index tensor: its numbers are below this, and -1 or more");
  io.unless(!t.rising, "rising", t.rising, as::Flag{}, "of an index tensor: no number is smaller than the one before it");
  io.optional("if", t.when, "of the parameters: where it is 0 there is no such tensor");
}

template <class Io>
void visit(Io& io, GridDim& d) {
  io.required("name", d.name, as::identifier);
  io.required("size", d.size);
}

template <class Io>
void visit(Io& io, OtherKernel& o) {
  io.required("name", o.name, as::name);
  io.required("bytes", o.bytes, "to and from global memory, of the parameters");
  io.optional("about", o.about);
}

template <class Io>
void visit(Io& io, Loop& l) {
  io.part("", "The scheduled loop: variable = 0 .. trips-1.");
  io.always("variable", l.variable, as::identifier);
  io.required("trips", l.trips);
  io.optional("tile_trips", l.tile_trips,
              "trips that are enough for one tile, of its block indices; more of them, up to trips, change no result");
}

template <class Io>
void visit(Io& io, TileValue& v) {
  io.part("", "A tile on chip. What follows from the op that defines it may be left out; a value of which everything does needs no entry.");
  io.required("name", v.name, ValueName{});
  io.always("dtype", v.dtype, as::word("dtype", DType::I4),
            "default: of what is loaded the tensor's, of mmas, reductions and element-by-element kinds f32, of moves the operand's");
  io.always("shape", v.shape, kShape, "default: as the operands of the op that defines it have it; what is loaded or filled has none");
  io.always("space", v.space, as::word("space", Space::Global),
            "default: smem for tma_load and smem_store, tmem for tmem_store, register for other ops");
  io.optional("alias_of", v.alias_of, as::name, "shares the storage of this value");
  io.optional("alias_at", v.alias_at, "where in that storage it begins: columns of tensor memory, bytes of shared memory");
  io.optional("registers", v.registers, "registers per thread where the layout makes it differ");
}

template <class Io>
void visit(Io& io, FreeAxis& a) {
  io.required("name", a.name, as::identifier, "what choices of layouts call it");
  io.required("value", a.value, as::name, "a tile that it is an axis of; the others follow from the ops");
  io.required("dimension", a.dimension, as::integer(0, 1), "of that tile: 0 its rows, 1 its columns");
}

template <class Io>
void visit(Io& io, CostOverride& c) {
  io.part("cost", "Numbers that replace those of the machine.");
  io.optional("uses", c.uses);
  io.optional("latency", c.latency, "cycles until the result is usable");
  io.optional("window", c.window, "cycles the issuing warps are busy");
  io.optional("warps", c.warps);
  io.optional("aligned", c.aligned);
  io.optional("asynchronous", c.asynchronous);
  io.optional("variable_latency", c.variable_latency);
  io.unless(!c.blocking, "blocking", c.blocking, "its warps wait until its result is there; default false");
}

template <class Io>
void visit(Io& io, TileOp& o) {
  io.part("op", "A tile instruction.");
  io.also(kind_clauses);
  io.required("name", o.name, as::name);
  io.required("kind", o.kind, OpKindName{});
  io.optional("in", o.inputs, as::list(OperandText{}), "values read: \"s\", or \"o[-1]\" for the value of one iteration ago");
  io.optional("tensor", o.tensor, as::name, "global tensor read or written");
  io.optional("at", o.at, "coordinates of the tile's first element in the tensor");
  io.optional("out", o.outputs, as::list(as::name), "values defined");
  io.optional("attrs", o.attrs, Attributes{});
  io.optional("cost", o.cost);
  io.optional("if", o.when,
              "of the parameters: where it is 0 there is no such op, and its only input stands for a result of the same shape");
}

template <class Io>
void visit(Io& io, OrderEdge& e) {
  io.required("from", e.from, as::name);
  io.required("to", e.to, as::name);
  io.optional("latency", e.latency, "default: the latency of `from`");
  io.optional("distance", e.distance, Distance{{0, kLargestDistance}}, "iterations");
  io.optional("handoff", e.handoff, "added where the two are in different warp groups; default: the machine's signal");
}

template <class Io>
void visit(Io& io, Kernel& k) {
  io.required("name", k.name, as::name);
  io.optional("about", k.about);
  io.optional("reference", k.reference,
              "what heddle eval compares with: the name of a formula, or one written out, like \"C = gelu(A @ B + Bias)\"");
  io.optional("params", k.params);
  io.optional("conditions", k.conditions, "looked at wherever parameters are given");
  io.optional("tensors", k.tensors, "global memory");
  io.optional("grid", k.grid, "one entry per block index");
  io.always("loop", k.loop);
  io.always("max_groups", k.max_groups, as::integer(1, kMostGroups), "most warp groups worth considering, producer included");
  io.unless(k.producer, "producer", k.producer, "false: loads have no group of their own, any group may issue them beside its other work");
  io.optional("values", k.values, "tiles on chip");
  io.optional("free", k.free, "axes of tiles whose order no result depends on (docs/files.md)");
  io.optional("prologue", k.prologue);
  io.required("body", k.body, as::list(as::part, 1), "what is scheduled");
  io.optional("epilogue", k.epilogue);
  io.optional("order", k.order, "orders between body ops that no value expresses");
  io.optional("around", k.around, "kernels before and after it in the same call, bound by memory");
}

namespace {

constexpr std::array<const char*, 3> kInferred{"dtype", "shape", "space"};

bool& member(OmittedMembers& left, std::string_view key) { return key == "dtype" ? left.dtype : key == "shape" ? left.shape : left.space; }

/// What the file's values leave out, by name.
OmittedByValue left_out_of(const Json& root) {
  OmittedByValue left;
  const Json* values = root.find("values");
  for (const Json& value : values && values->items() ? *values->items() : Json::Array{}) {
    const Json* name = value.find("name");
    if (!name || !name->string()) continue;
    OmittedMembers members;
    for (const char* key : kInferred) member(members, key) = !value.find(key);
    if (members.any()) left.emplace(*name->string(), members);
  }
  return left;
}

/// Completes the values, and makes those that only an op names.
void complete_values(ObjectReader& root, Kernel& kernel) {
  OmittedByValue left = left_out_of(root.cursor().json());
  const std::size_t listed = kernel.values.size();
  std::set<std::string, std::less<>> known;
  for (const TileValue& value : kernel.values) known.insert(value.name);
  for (const auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (const TileOp& op : *list)
      for (const std::string& out : op.outputs)
        if (op.outputs.size() == 1 && known.insert(out).second) {
          kernel.values.emplace_back().name = out;
          left[out] = {true, true, true};
        }
  if (left.empty()) return;
  infer_values(kernel, left);
  // One that nothing is said of is unknown to those who read it.
  std::size_t number = 0;
  std::erase_if(kernel.values, [&](const TileValue& value) { return number++ >= listed && left.contains(value.name); });
  for (std::size_t v = 0; v < kernel.values.size(); ++v) {
    const auto still = left.find(kernel.values[v].name);
    if (still == left.end()) continue;
    for (const char* key : kInferred)
      if (member(still->second, key))
        root.cursor().log().faults.push_back({kernel.source, fmt::format("/values/{}", v),
                                              fmt::format("nothing says the {} of '{}'", key, kernel.values[v].name),
                                              fmt::format("add \"{}\"; it does not follow from the op that defines the value", key)});
  }
}

void read_root(ObjectReader& root, Kernel& kernel) {
  kernel.source = root.cursor().log().file;
  read_members(root, kernel);
  complete_values(root, kernel);

  // What the form already got wrong is not judged a second time by what follows from it.
  ReadLog& log = root.cursor().log();
  if (!root.cursor().json().find("body") || log.faults.size() > kMostFaults) return;
  for (const Fault& fault : log.faults)
    for (const char* list : {"/params", "/tensors", "/values", "/prologue", "/body", "/epilogue"})
      if (fault.pointer == list) return;
  std::vector<Fault> meaning = validate(kernel);
  for (Fault& fault : validate_shapes(kernel)) meaning.push_back(std::move(fault));
  if (meaning.empty()) meaning = validate_free_axes(kernel);
  std::erase_if(meaning, [&](const Fault& fault) { return log.touched(fault.pointer); });
  log.faults.insert(log.faults.end(), meaning.begin(), meaning.end());
}

}  // namespace

Json kernel_schema() { return document_schema<Kernel>(kKernelSchema, "Heddle kernel"); }

Result<Kernel> parse_kernel(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  const Result<Kernel> kernel = read_document<Kernel>(text, file_name, kKernelSchema, warnings, read_root);
  return kernel ? settled(*kernel, {}) : kernel;
}

Result<Kernel> read_kernel(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_kernel(*text, path, warnings) : text.error();
}

namespace {

/// Takes out of a document's values what follows from their ops, wherever `wanted` says so.
void leave_out(Json& document, const Kernel& kernel, const std::function<bool(const std::string& name, const char* key)>& wanted) {
  Json* values = document.find("values");
  if (!values || !values->items()) return;
  OmittedByValue follows = what_follows(kernel);
  for (Json& value : *values->items())
    for (const char* key : kInferred)
      if (const std::string& name = *value.find("name")->string(); member(follows[name], key) && wanted(name, key))
        std::erase_if(*value.members(), [&](const JsonMember& m) { return m.key == key; });
  std::erase_if(*values->items(),
                [&](const Json& value) { return value.members()->size() == 1 && wanted(*value.find("name")->string(), ""); });
  if (values->items()->empty()) std::erase_if(*document.members(), [](const JsonMember& m) { return m.key == "values"; });
}

/// As its file says it; what may have been changed after it was settled is as it is now.
Kernel to_be_written(const Kernel& given) {
  Kernel kernel = as_in_file(given);
  kernel.name = given.name;
  kernel.max_groups = given.max_groups;
  kernel.producer = given.producer;
  return kernel;
}

}  // namespace

std::string kernel_text(const Kernel& given, std::string_view original) {
  const Kernel kernel = to_be_written(given);
  Json fresh = document_json(kKernelSchema, kernel);
  if (const Result<Json> json = parse_json(original, {}); !original.empty() && json) {
    // What the file left out stays out. A name without an entry there has an entry of its own only where it must.
    std::set<std::string, std::less<>> listed;
    const Json* values = json->find("values");
    for (const Json& value : values && values->items() ? *values->items() : Json::Array{})
      if (const Json* name = value.find("name"); name && name->string()) listed.insert(*name->string());
    OmittedByValue left = left_out_of(*json);
    bool any = !left.empty();
    for (const TileValue& value : kernel.values) any = any || !listed.contains(value.name);
    if (any)
      leave_out(fresh, kernel, [&](const std::string& name, const char* key) {
        if (!listed.contains(name)) return true;
        const auto it = left.find(name);
        return it != left.end() && *key && member(it->second, key);
      });
  }
  return document_text<Kernel>(std::move(fresh), original, kKernelSchema, read_root);
}

std::string brief_kernel_text(const Kernel& given) {
  const Kernel kernel = to_be_written(given);
  Json fresh = document_json(kKernelSchema, kernel);
  leave_out(fresh, kernel, [](const std::string&, const char*) { return true; });
  return fresh.pretty();
}

}  // namespace heddle
