#include "core/formats/kernel_json.h"

#include <fmt/format.h>

#include <charconv>

#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/words.h"
#include "core/formats/cost_json.h"
#include "core/kernel/validate.h"

namespace heddle {
namespace {

constexpr const char* kKernelSchema = "heddle.kernel/1";
constexpr std::int64_t kLargestDistance = 1 << 20;
constexpr std::int64_t kMostGroups = 32;

const std::vector<std::string> kDTypeNames = words_up_to(DType::I32);
const std::vector<std::string> kSpaceNames = words_up_to(Space::Global);
const std::vector<std::string> kRoleNames{"input", "output", "inout"};

std::optional<TensorRole> parse_tensor_role(std::string_view name) {
  if (name == "input") return TensorRole::Input;
  if (name == "output") return TensorRole::Output;
  if (name == "inout") return TensorRole::InOut;
  return std::nullopt;
}

const char* role_name(TensorRole role) { return kRoleNames[static_cast<std::size_t>(role)].c_str(); }

DType read_dtype(ObjectReader& object) {
  const auto at = object.require("dtype");
  return at ? at->word("dtype", kDTypeNames, parse_dtype).value_or(DType::F32) : DType::F32;
}

std::vector<Expr> read_exprs(const std::vector<Cursor>& items) {
  std::vector<Expr> exprs;
  for (const Cursor& item : items) exprs.push_back(item.expr().value_or(Expr()));
  return exprs;
}

Param read_param(const Cursor& at) {
  ObjectReader object(at);
  Param param;
  param.name = object.name("name");
  param.value = object.integer("value", -kLargestNumber, kLargestNumber);
  if (const auto value = object.find("eval")) param.eval_value = value->integer(-kLargestNumber, kLargestNumber);
  for (const Cursor& choice : object.list("choices")) param.choices.push_back(choice.integer(-kLargestNumber, kLargestNumber).value_or(0));
  param.about = object.string("about");
  return param;
}

Tensor read_tensor(const Cursor& at) {
  ObjectReader object(at);
  Tensor tensor;
  tensor.name = object.name("name");
  tensor.dtype = read_dtype(object);
  tensor.shape = read_exprs(object.required_list("shape"));
  if (const auto role = object.require("role")) tensor.role = role->word("role", kRoleNames, parse_tensor_role).value_or(TensorRole::Input);
  return tensor;
}

TileValue read_value(const Cursor& at) {
  ObjectReader object(at);
  TileValue value;
  value.name = object.name("name");
  value.dtype = read_dtype(object);
  value.shape = read_exprs(object.required_list("shape"));
  if (const auto space = object.require("space")) value.space = space->word("space", kSpaceNames, parse_space).value_or(Space::Register);
  if (const auto alias = object.find("alias_of")) value.alias_of = alias->name().value_or("");
  value.registers = object.maybe_expr("registers");
  return value;
}

/// "s" or "o[-1]": the value of this iteration, or of one iteration ago.
Operand read_operand(const Cursor& at) {
  Operand operand;
  const auto text = at.label();
  if (!text) return operand;
  const std::size_t bracket = text->find('[');
  operand.value = text->substr(0, bracket);
  if (bracket == std::string::npos) return operand;
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
  return operand;
}

std::optional<Attr> read_attr(const Cursor& at) {
  if (const bool* flag = at.json().boolean()) return *flag;
  if (const std::int64_t* number = at.json().integer()) return *number;
  if (const std::string* text = at.json().string()) return *text;
  at.fault(fmt::format("expected true, false, an integer or a string, found {}", describe(at.json())),
           at.json().number() ? fmt::format("write fractions as strings: \"{}\"", at.json().number_text()) : "");
  return std::nullopt;
}

CostOverride read_cost(const Cursor& at) {
  ObjectReader object(at);
  CostOverride cost;
  if (const auto uses = object.find("uses")) cost.uses = read_unit_costs(uses->items());
  cost.latency = object.maybe_expr("latency");
  cost.window = object.maybe_expr("window");
  cost.warps = object.maybe_expr("warps");
  cost.aligned = object.maybe_boolean("aligned");
  cost.asynchronous = object.maybe_boolean("asynchronous");
  cost.variable_latency = object.maybe_boolean("variable_latency");
  return cost;
}

TileOp read_op(const Cursor& at) {
  ObjectReader object(at);
  TileOp op;
  op.name = object.name("name");
  op.kind = object.name("kind");
  for (const Cursor& operand : object.list("in")) op.inputs.push_back(read_operand(operand));
  for (const Cursor& output : object.list("out")) op.outputs.push_back(output.name().value_or(""));
  if (const auto tensor = object.find("tensor")) op.tensor = tensor->name().value_or("");
  op.at = read_exprs(object.list("at"));
  if (const auto attrs = object.find("attrs")) {
    if (const Json::Object* members = attrs->json().members()) {
      for (const JsonMember& member : *members)
        if (auto attr = read_attr({member.value, pointer_to(attrs->pointer(), member.key), at.log()}))
          op.attrs.emplace(member.key, std::move(*attr));
    } else {
      attrs->fault("expected an object, found " + describe(attrs->json()));
    }
  }
  if (const auto cost = object.find("cost")) op.cost = read_cost(*cost);
  return op;
}

OrderEdge read_order(const Cursor& at) {
  ObjectReader object(at);
  OrderEdge edge;
  edge.from = object.name("from");
  edge.to = object.name("to");
  edge.latency = object.maybe_expr("latency");
  edge.handoff = object.maybe_expr("handoff");
  // A faulty distance counts as 1, so that it closes no cycle that the file does not have.
  if (const auto distance = object.find("distance")) edge.distance = static_cast<int>(distance->integer(0, kLargestDistance).value_or(1));
  return edge;
}

template <class T, class Read>
std::vector<T> read_all(const std::vector<Cursor>& items, Read read) {
  std::vector<T> out;
  for (const Cursor& item : items) out.push_back(read(item));
  return out;
}

void read_root(ObjectReader& root, Kernel& kernel) {
  kernel.source = root.cursor().log().file;
  kernel.name = root.name("name");
  kernel.about = root.string("about");
  kernel.reference = root.string("reference");
  kernel.params = read_all<Param>(root.list("params"), read_param);
  kernel.tensors = read_all<Tensor>(root.list("tensors"), read_tensor);
  for (const Cursor& item : root.list("grid")) {
    ObjectReader object(item);
    GridDim& dim = kernel.grid.emplace_back();
    dim.name = object.name("name");
    dim.size = object.expr("size");
  }
  if (const auto loop = root.find("loop")) {
    ObjectReader object(*loop);
    if (const auto variable = object.find("variable")) kernel.loop.variable = variable->name().value_or("i");
    kernel.loop.trips = object.expr("trips");
    kernel.loop.tile_trips = object.maybe_expr("tile_trips");
  }
  kernel.values = read_all<TileValue>(root.list("values"), read_value);
  kernel.prologue = read_all<TileOp>(root.list("prologue"), read_op);
  const auto body = root.require("body");
  if (body) kernel.body = read_all<TileOp>(body->items(), read_op);
  kernel.epilogue = read_all<TileOp>(root.list("epilogue"), read_op);
  kernel.order = read_all<OrderEdge>(root.list("order"), read_order);
  kernel.max_groups = static_cast<int>(root.integer("max_groups", 1, kMostGroups, kernel.max_groups));

  // What the form already got wrong is not judged a second time by what follows from it.
  ReadLog& log = root.cursor().log();
  if (!body || log.faults.size() > kMostFaults) return;
  for (const Fault& fault : log.faults)
    for (const char* list : {"/params", "/tensors", "/values", "/prologue", "/body", "/epilogue"})
      if (fault.pointer == list) return;
  std::vector<Fault> meaning = validate(kernel);
  for (Fault& fault : validate_shapes(kernel)) meaning.push_back(std::move(fault));
  std::erase_if(meaning, [&](const Fault& fault) { return log.touched(fault.pointer); });
  log.faults.insert(log.faults.end(), meaning.begin(), meaning.end());
}

Json op_json(const TileOp& op) {
  Json item = Json::object();
  item.set("name", op.name).set("kind", op.kind);
  if (!op.inputs.empty()) {
    Json inputs = Json::array();
    for (const Operand& in : op.inputs) inputs.push(in.distance == 0 ? in.value : fmt::format("{}[-{}]", in.value, in.distance));
    item.set("in", std::move(inputs));
  }
  if (!op.tensor.empty()) item.set("tensor", op.tensor);
  if (!op.at.empty()) item.set("at", exprs_json(op.at));
  if (!op.outputs.empty()) item.set("out", names_json(op.outputs));
  if (!op.attrs.empty()) {
    Json attrs = Json::object();
    for (const auto& [key, attr] : op.attrs) std::visit([&](const auto& value) { attrs.set(key, Json(value)); }, attr);
    item.set("attrs", std::move(attrs));
  }
  if (op.cost) {
    Json cost = Json::object();
    if (op.cost->uses) cost.set("uses", unit_costs_json(*op.cost->uses));
    if (op.cost->latency) cost.set("latency", expr_json(*op.cost->latency));
    if (op.cost->window) cost.set("window", expr_json(*op.cost->window));
    if (op.cost->warps) cost.set("warps", expr_json(*op.cost->warps));
    if (op.cost->aligned) cost.set("aligned", *op.cost->aligned);
    if (op.cost->asynchronous) cost.set("asynchronous", *op.cost->asynchronous);
    if (op.cost->variable_latency) cost.set("variable_latency", *op.cost->variable_latency);
    item.set("cost", std::move(cost));
  }
  return item;
}

template <class T, class Write>
void set_list(Json& root, const char* key, const std::vector<T>& items, Write write) {
  if (items.empty()) return;
  Json list = Json::array();
  for (const T& item : items) list.push(write(item));
  root.set(key, std::move(list));
}

Json param_json(const Param& param) {
  Json item = Json::object();
  item.set("name", param.name).set("value", param.value);
  if (param.eval_value) item.set("eval", *param.eval_value);
  if (!param.choices.empty()) {
    Json choices = Json::array();
    for (const std::int64_t choice : param.choices) choices.push(choice);
    item.set("choices", std::move(choices));
  }
  if (!param.about.empty()) item.set("about", param.about);
  return item;
}

Json value_json(const TileValue& value) {
  Json item = Json::object();
  item.set("name", value.name).set("dtype", to_string(value.dtype)).set("shape", exprs_json(value.shape));
  item.set("space", to_string(value.space));
  if (!value.alias_of.empty()) item.set("alias_of", value.alias_of);
  if (value.registers) item.set("registers", expr_json(*value.registers));
  return item;
}

Json kernel_json(const Kernel& kernel) {
  Json root = Json::object();
  root.set("schema", kKernelSchema).set("name", kernel.name);
  if (!kernel.about.empty()) root.set("about", kernel.about);
  if (!kernel.reference.empty()) root.set("reference", kernel.reference);
  set_list(root, "params", kernel.params, param_json);
  set_list(root, "tensors", kernel.tensors, [](const Tensor& tensor) {
    return Json::object()
        .set("name", tensor.name)
        .set("dtype", to_string(tensor.dtype))
        .set("shape", exprs_json(tensor.shape))
        .set("role", role_name(tensor.role));
  });
  set_list(root, "grid", kernel.grid,
           [](const GridDim& dim) { return Json::object().set("name", dim.name).set("size", expr_json(dim.size)); });
  Json loop = Json::object().set("variable", kernel.loop.variable).set("trips", expr_json(kernel.loop.trips));
  if (kernel.loop.tile_trips) loop.set("tile_trips", expr_json(*kernel.loop.tile_trips));
  root.set("loop", std::move(loop));
  root.set("max_groups", kernel.max_groups);
  set_list(root, "values", kernel.values, value_json);
  set_list(root, "prologue", kernel.prologue, op_json);
  Json body = Json::array();
  for (const TileOp& op : kernel.body) body.push(op_json(op));
  root.set("body", std::move(body));
  set_list(root, "epilogue", kernel.epilogue, op_json);
  set_list(root, "order", kernel.order, [](const OrderEdge& edge) {
    Json item = Json::object();
    item.set("from", edge.from).set("to", edge.to);
    if (edge.latency) item.set("latency", expr_json(*edge.latency));
    if (edge.distance != 0) item.set("distance", edge.distance);
    if (edge.handoff) item.set("handoff", expr_json(*edge.handoff));
    return item;
  });
  return root;
}

}  // namespace

Result<Kernel> parse_kernel(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<Kernel>(text, file_name, kKernelSchema, warnings, read_root);
}

Result<Kernel> read_kernel(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_kernel(*text, path, warnings) : text.error();
}

std::string kernel_text(const Kernel& kernel, std::string_view original) {
  return document_text<Kernel>(kernel_json(kernel), original, kKernelSchema, read_root);
}

}  // namespace heddle
