// One pass over declarations, one over ops, one search for cycles; every fault carries the pointer of its place in the
// file.
#include "core/kernel/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/base/text_style.h"
#include "core/kernel/formula.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/scalars.h"
#include "core/kernel/switches.h"

namespace heddle {
namespace {

constexpr std::size_t kLargestRank = 8;
constexpr std::size_t kMostGuesses = 100;  ///< faults after which guessing names is not worth the time
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

/// Where in the three op lists a value gets its definition; kNowhere where it has none.
struct Definition {
  std::size_t prologue = kNowhere, body = kNowhere, epilogue = kNowhere;
};

class Validator {
 public:
  explicit Validator(const Kernel& kernel) : kernel_(kernel) {}

  std::vector<Fault> run() {
    declarations();
    numbers_only_ = std::any_of(kernel_.body.begin(), kernel_.body.end(), [](const TileOp& op) { return op.kind == "opaque"; });
    if (kernel_.body.empty()) fault("/body", "the loop body has no ops; there is nothing to schedule");
    collect_definitions("prologue", kernel_.prologue, &Definition::prologue);
    collect_definitions("body", kernel_.body, &Definition::body);
    collect_definitions("epilogue", kernel_.epilogue, &Definition::epilogue);
    op_names();
    find_cycles();
    for (std::size_t i = 0; i < kernel_.prologue.size(); ++i) op("prologue", i, kernel_.prologue[i]);
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) op("body", i, kernel_.body[i]);
    for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i) op("epilogue", i, kernel_.epilogue[i]);
    for (Fault& f : validate_switches(kernel_)) faults_.push_back(std::move(f));
    for (Fault& f : validate_scalars(kernel_)) faults_.push_back(std::move(f));
    if (is_formula(kernel_.reference))
      if (const auto formula = Formula::parse(kernel_.reference, kernel_); !formula.ok())
        for (const Fault& f : formula.error().faults) faults_.push_back(f);
    return std::move(faults_);
  }

 private:
  void fault(std::string pointer, std::string message, std::string hint = {}) {
    faults_.push_back({kernel_.source, std::move(pointer), std::move(message), std::move(hint)});
  }

  std::string guess(const std::string& name, const std::vector<std::string>& known) const {
    return faults_.size() < kMostGuesses ? did_you_mean(name, known) : std::string();
  }

  const TileValue* find_value(const std::string& name) const {
    const auto it = values_.find(name);
    return it == values_.end() ? nullptr : it->second;
  }

  // ---- declarations

  /// Parameters, block indices and the loop variable share the one namespace of expressions.
  void variable(const std::string& pointer, const std::string& name) {
    if (!is_name(name))
      fault(pointer, fmt::format("\"{}\" cannot be used in expressions; expected letters, digits and underscores", name));
    else if (const auto [it, fresh] = variables_.emplace(name, pointer); !fresh)
      fault(pointer, fmt::format("name '{}' is already taken by {}", name, it->second), "choose another name");
  }

  template <class T>
  void unique(const char* list, const std::vector<T>& items) {
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (const auto [it, fresh] = seen.emplace(items[i].name, i); !fresh && !items[i].name.empty())
        fault(fmt::format("/{}/{}/name", list, i), fmt::format("name '{}' is already taken by /{}/{}", items[i].name, list, it->second));
  }

  /// Names that may stand in an expression; it may look up the first so many tensors, or none ever.
  void known_names(const std::string& pointer, const Expr& expr, const std::vector<std::string>& known,
                   std::optional<std::size_t> tensors = {}) {
    for (const std::string& name : expr.tables()) {
      const auto end = kernel_.tensors.begin() + static_cast<std::ptrdiff_t>(tensors.value_or(0));
      const auto found = std::find_if(kernel_.tensors.begin(), end, [&](const Tensor& t) { return t.name == name; });
      if (!tensors)
        fault(pointer, fmt::format("\"{}\" looks up '{}', and this number may not depend on data", expr.text(), name),
              "coordinates, tile_trips, sizes of the grid and of tensors may");
      else if (found == end)
        fault(pointer, fmt::format("unknown index tensor '{}' in \"{}\"", name, expr.text()),
              kernel_.find_tensor(name) ? "a tensor's size looks up what stands before it" : guess(name, names_of(kernel_.tensors)));
      else if (found->role != TensorRole::Index)
        fault(pointer, fmt::format("\"{}\" looks up '{}', whose role is not index", expr.text(), name));
    }
    for (const std::string& name : expr.names()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string hint = guess(name, known);
      if (hint.empty()) hint = known.empty() ? "no names are known here" : "known here: " + list_of(known);
      fault(pointer, fmt::format("unknown name '{}' in \"{}\"", name, expr.text()), std::move(hint));
    }
  }

  void shape(const std::string& pointer, const std::vector<Expr>& extents, std::optional<std::size_t> tensors = {}) {
    if (extents.size() > kLargestRank)
      fault(pointer, fmt::format("expected at most {} dimensions, found {}", kLargestRank, extents.size()));
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::string at = fmt::format("{}/{}", pointer, i);
      known_names(at, extents[i], sizes_, tensors);
      if (extents[i].is_constant() && extents[i].evaluate({}).value() < 1)
        fault(at, fmt::format("expected a positive size, found {}", extents[i].text()));
    }
  }

  void declarations() {
    params_ = names_of(kernel_.params);
    for (std::size_t i = 0; i < kernel_.params.size(); ++i) variable(fmt::format("/params/{}/name", i), params_[i]);
    for (std::size_t i = 0; i < kernel_.conditions.size(); ++i)
      known_names(fmt::format("/conditions/{}/expr", i), kernel_.conditions[i].expr, params_);
    for (const Param& param : kernel_.params)
      if (!is_switch(kernel_, param)) sizes_.push_back(param.name);
    block_names_ = sizes_;
    for (std::size_t i = 0; i < kernel_.grid.size(); ++i) {
      variable(fmt::format("/grid/{}/name", i), kernel_.grid[i].name);
      known_names(fmt::format("/grid/{}/size", i), kernel_.grid[i].size, sizes_, kernel_.tensors.size());
      block_names_.push_back(kernel_.grid[i].name);
    }
    for (std::size_t i = 0; i < kernel_.around.size(); ++i)
      known_names(fmt::format("/around/{}/bytes", i), kernel_.around[i].bytes, sizes_);
    variable("/loop/variable", kernel_.loop.variable);
    known_names("/loop/trips", kernel_.loop.trips, sizes_);
    if (kernel_.loop.tile_trips) known_names("/loop/tile_trips", *kernel_.loop.tile_trips, block_names_, kernel_.tensors.size());
    body_names_ = block_names_;
    body_names_.push_back(kernel_.loop.variable);

    unique("tensors", kernel_.tensors);
    for (std::size_t i = 0; i < kernel_.tensors.size(); ++i) {
      const Tensor& tensor = kernel_.tensors[i];
      shape(fmt::format("/tensors/{}/shape", i), tensor.shape, i);
      index(fmt::format("/tensors/{}", i), tensor, i);
      packing(fmt::format("/tensors/{}", i), tensor);
      if (tensor.when) known_names(fmt::format("/tensors/{}/if", i), *tensor.when, params_);
    }

    unique("values", kernel_.values);
    for (const TileValue& value : kernel_.values) values_.emplace(value.name, &value);
    value_names_ = names_of(kernel_.values);
    for (std::size_t i = 0; i < kernel_.values.size(); ++i) value(i);
  }

  void index(const std::string& at, const Tensor& tensor, std::size_t number) {
    if (tensor.role != TensorRole::Index) {
      for (const auto& [given, key] :
           {std::pair{tensor.data.has_value(), "data"}, {tensor.below.has_value(), "below"}, {tensor.rising, "rising"}})
        if (given) fault(fmt::format("{}/{}", at, key), fmt::format("'{}' is no index tensor", tensor.name), "its role would be index");
      return;
    }
    if (tensor.dtype != DType::I32) fault(at + "/dtype", fmt::format("index tensors are of i32, found {}", to_string(tensor.dtype)));
    if (!is_name(tensor.name))
      fault(at + "/name", fmt::format("\"{}\" cannot be looked up; expected letters, digits and underscores", tensor.name));
    if (!tensor.data)
      fault(at, fmt::format("index tensor '{}' needs \"data\"", tensor.name),
            "a generator like \"causal(rows=64).rowptr\", a file, or a list of numbers");
    if (tensor.below) known_names(at + "/below", *tensor.below, sizes_, number);
    if (tensor.data && tensor.data->call)
      for (const auto& [name, value] : tensor.data->call->arguments) known_names(at + "/data", value, sizes_, number);
  }

  void packing(const std::string& at, const Tensor& tensor) {
    if (tensor.packing == Packing::Natural) return;
    const bool weights = tensor.dtype == DType::I4 && tensor.shape.size() == 2 && tensor.role == TensorRole::Input;
    const bool workspace = tensor.dtype == DType::F32 && tensor.shape.size() >= 2 && is_written(tensor.role);
    if (!weights && !workspace)
      fault(at + "/prepacked", "what is prepacked is an input of two dimensions and type i4, or a result of type f32");
    const auto same = [&](const auto& other) { return other.name == tensor.name; };
    const bool named_twice =
        std::any_of(kernel_.values.begin(), kernel_.values.end(), same) || std::any_of(kernel_.free.begin(), kernel_.free.end(), same);
    if (tensor.packing == Packing::Free && named_twice)
      fault(at + "/name", fmt::format("a value or a free axis is called '{}', too, and layouts name all three", tensor.name));
  }

  void value(std::size_t index) {
    const TileValue& value = kernel_.values[index];
    const std::string at = fmt::format("/values/{}", index);
    if (value.name.find_first_of("[] \t") != std::string::npos)
      fault(at + "/name", fmt::format("\"{}\" cannot be the name of a value; brackets and blanks mean something in operands", value.name));
    shape(at + "/shape", value.shape);
    if (value.registers) known_names(at + "/registers", *value.registers, sizes_);
    known_names(at + "/alias_at", value.alias_at, sizes_);
    if (value.alias_of.empty()) {
      if (!value.alias_at.is_zero())
        fault(at + "/alias_at", fmt::format("'{}' has storage of its own; expected alias_of beside alias_at", value.name));
      return;
    }
    const TileValue* target = find_value(value.alias_of);
    if (!target)
      fault(at + "/alias_of", fmt::format("no value '{}' to share storage with", value.alias_of), guess(value.alias_of, value_names_));
    else if (target->space != value.space)
      fault(at + "/alias_of", fmt::format("'{}' lies in {}, but '{}' lies in {}; only values of one space can share storage", value.name,
                                          to_string(value.space), target->name, to_string(target->space)));
    // A chain that comes back here: reported once per value in it, since each has to be corrected.
    std::size_t steps = 0;
    for (const TileValue* next = target; next && steps++ <= kernel_.values.size(); next = find_value(next->alias_of)) {
      if (next != &value) continue;
      fault(at + "/alias_of", fmt::format("'{}' shares storage with itself", value.name), "one value of the chain must own the storage");
      break;
    }
  }

  // ---- ops

  void collect_definitions(const char* list, const std::vector<TileOp>& ops, std::size_t Definition::*where) {
    for (std::size_t i = 0; i < ops.size(); ++i)
      for (std::size_t k = 0; k < ops[i].outputs.size(); ++k) {
        const std::string& name = ops[i].outputs[k];
        const std::string pointer = fmt::format("/{}/{}/out/{}", list, i, k);
        if (name.empty()) continue;
        if (!find_value(name)) undeclared(pointer, name);
        Definition& definition = definitions_[name];
        if (definition.*where != kNowhere)
          fault(pointer,
                fmt::format("'{}' is defined twice in the {}: by '{}' and by '{}'", name, list, ops[definition.*where].name, ops[i].name),
                "give one of the two results another name");
        else
          definition.*where = i;
      }
  }

  void undeclared(const std::string& pointer, const std::string& name) {
    std::string hint = guess(name, value_names_);
    if (hint.empty()) hint = "declare its dtype, shape and space under /values";
    fault(pointer, fmt::format("unknown value '{}'", name), std::move(hint));
  }

  void op_names() {
    std::map<std::string, std::string> seen;
    const auto list = [&](const char* name, const std::vector<TileOp>& ops) {
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const std::string pointer = fmt::format("/{}/{}", name, i);
        if (ops[i].name.empty()) continue;
        if (const auto [it, fresh] = seen.emplace(ops[i].name, pointer); !fresh)
          fault(pointer + "/name", fmt::format("name '{}' is already taken by {}", ops[i].name, it->second));
      }
    };
    list("prologue", kernel_.prologue);
    list("body", kernel_.body);
    list("epilogue", kernel_.epilogue);
  }

  void op(const std::string& list, std::size_t index, const TileOp& op) {
    const std::string at = fmt::format("/{}/{}", list, index);
    kind(at, op);
    if (!op.tensor.empty())
      tensor_access(at, list, op);
    else if (op.kind == "mask" || (op.kind == "map" && !op.at.empty()))
      tile_place(at, list, op);
    else if (!op.at.empty())
      fault(at + "/at", "coordinates without a tensor", "add \"tensor\", or remove \"at\"");
    for (std::size_t k = 0; k < op.inputs.size(); ++k)
      if (!op.inputs[k].value.empty()) operand(fmt::format("{}/in/{}", at, k), list, index, op.inputs[k]);
    if (op.when) known_names(at + "/if", *op.when, params_);
    if (list != "body" && op.cost) fault(at + "/cost", "costs belong to ops of the loop body; only they are scheduled");
  }

  void kind(const std::string& at, const TileOp& op) {
    if (op.kind.empty()) return;
    const OpKind* kind = find_op_kind(op.kind);
    if (!kind) {
      std::vector<std::string> known;
      for (const OpKind& k : op_kinds()) known.push_back(k.name);
      fault(at + "/kind", fmt::format("unknown kind '{}' (known: {})", op.kind, list_of(known)), guess(op.kind, known));
      return;
    }
    const int inputs = static_cast<int>(op.inputs.size()), outputs = static_cast<int>(op.outputs.size());
    if (inputs < kind->min_inputs || inputs > kind->max_inputs)
      fault(at + "/in", kind->min_inputs == kind->max_inputs
                            ? fmt::format("{} takes {}, found {}", op.kind, count_of(kind->min_inputs, "input"), inputs)
                            : fmt::format("{} takes {} to {} inputs, found {}", op.kind, kind->min_inputs, kind->max_inputs, inputs));
    if (kind->outputs != OpKind::kAnyOutputs && outputs != kind->outputs)
      fault(at + "/out", fmt::format("{} defines {}, found {}", op.kind, count_of(kind->outputs, "value"), outputs));
    if ((kind->reads_tensor || kind->writes_tensor) && op.tensor.empty())
      fault(at, fmt::format("{} needs \"tensor\", the global tensor that it {}", op.kind, kind->reads_tensor ? "reads" : "writes"));
    if (op.kind == "opaque" && (!op.cost || !op.cost->latency))
      fault(at, "an opaque op needs \"cost\" with at least \"latency\"; no machine has a rule for it");
    if (!kind->reads_tensor && !kind->writes_tensor && !op.tensor.empty() && op.kind != "opaque")
      fault(at + "/tensor", fmt::format("{} does not touch global memory", op.kind), "remove \"tensor\" and \"at\"");

    std::vector<std::string> accepted;
    for (const OpAttribute& attribute : kind->attributes) accepted.emplace_back(attribute.name);
    for (const auto& [name, attr] : op.attrs) {
      const OpAttribute* attribute = kind->find_attribute(name);
      if (!attribute && op.kind != "opaque") {
        fault(at + "/attrs/" + name, fmt::format("{} has no attribute '{}'", op.kind, name),
              accepted.empty() ? "it has none" : "it accepts " + list_of(accepted));
      } else if (const std::string why = attribute ? attribute_fault(*attribute, attr) : ""; !why.empty()) {
        const std::string* text = std::get_if<std::string>(&attr);
        fault(at + "/attrs/" + name, why, text && attribute->type == OpAttribute::Type::Function ? guess(*text, functions()) : "");
      }
    }
    if (op.kind == "elementwise") element_function(at, op);
    if (op.attrs.contains("keep_within") && inputs < 2)
      fault(at + "/attrs/keep_within", "it needs a second input, the old maximum", "add it, or take the attribute out");
    if (flag_attr(op, "skip_ones") && (inputs != 2 || text_attr(op, "fn") != "mul"))
      fault(at + "/attrs/skip_ones", "only products of two operands have factors of 1", "take it out, or make it \"fn\": \"mul\"");
    if (op.kind == "map") map_expression(at, op);
    if (is_async_load(op) && outputs == 1)
      if (const TileValue* tile = find_value(op.outputs[0]); tile && tile->space != Space::Smem)
        fault(at + "/out/0",
              fmt::format("an asynchronous load fills shared memory, but '{}' lies in {}", tile->name, to_string(tile->space)),
              "declare it with \"space\": \"smem\"");
  }

  void map_expression(const std::string& at, const TileOp& op) {
    if (!op.attrs.contains("expr"))
      return fault(at, "map needs the attribute 'expr', what an element is of x0, x1, ...", "\"expr\": \"x0 * sigmoid(x0)\"");
    const auto* text = op.attr<std::string>("expr");
    if (!text || op.inputs.size() > MapExpression::kMostInputs) return;
    const auto expression = MapExpression::parse(*text, op.inputs.size());
    if (!expression.ok())
      for (const Fault& f : expression.error().faults) fault(at + "/attrs/expr", f.message, f.hint);
    else if (op.at.size() < expression->places())
      fault(at,
            fmt::format("its expression names at{}, and its \"at\" has {}", expression->places() - 1,
                        count_of(static_cast<int>(op.at.size()), "number")),
            "at0 and at1 are the row and the column of the tile's first element, or other numbers; row and col count within the tile and "
            "need "
            "none");
  }

  static std::vector<std::string> functions() {
    std::vector<std::string> known;
    for (const ElementwiseFunction& f : elementwise_functions()) known.emplace_back(f.name);
    return known;
  }

  void element_function(const std::string& at, const TileOp& op) {
    if (!op.attrs.contains("fn"))
      return fault(at, "elementwise needs the attribute 'fn', the function to apply", "known: " + list_of(functions()));
    const auto* name = op.attr<std::string>("fn");
    for (const ElementwiseFunction& f : elementwise_functions()) {
      if (!name || *name != f.name) continue;
      const int found = static_cast<int>(op.inputs.size());
      const bool may_lack = op.attrs.contains("value") || *name == "rsqrt";
      if (found == f.operands || (may_lack && found + 1 == f.operands)) continue;
      fault(at + "/in", fmt::format("function '{}' takes {}, found {}", *name, count_of(f.operands, "operand"), found),
            f.operands > 1 ? "the last may be the attribute 'value'" : "");
    }
  }

  void tensor_access(const std::string& at, const std::string& list, const TileOp& op) {
    const Tensor* tensor = kernel_.find_tensor(op.tensor);
    if (!tensor) {
      const auto known = names_of(kernel_.tensors);
      std::string hint = guess(op.tensor, known);
      if (hint.empty()) hint = known.empty() ? "this kernel declares none" : "known: " + list_of(known);
      fault(at + "/tensor", fmt::format("unknown tensor '{}'", op.tensor), std::move(hint));
    } else if (op.at.size() != tensor->shape.size()) {
      fault(at + "/at",
            fmt::format("tensor '{}' has {}, found {}", tensor->name, count_of(static_cast<int>(tensor->shape.size()), "dimension"),
                        count_of(static_cast<int>(op.at.size()), "coordinate")));
    }
    if (tensor && tensor->packing != Packing::Natural && op.kind != "tma_load" && op.kind != "tma_store" && op.kind != "atomic_add")
      fault(at + "/tensor", fmt::format("tensor '{}' is prepacked, which TMA alone brings and takes", tensor->name));
    if (const OpKind* kind = find_op_kind(op.kind); kind && tensor) {
      if (kind->writes_tensor && !is_written(tensor->role))
        fault(at + "/tensor", fmt::format("'{}' is read only, but {} writes it", tensor->name, op.kind),
              "its role would be inout or output");
    }
    const std::vector<std::string>& known = list == "body" ? body_names_ : block_names_;
    for (std::size_t k = 0; k < op.at.size(); ++k) {
      std::vector<std::string> here = known;
      if (k == 0 && looks_rows_up(op)) {
        here.emplace_back(kRowName);
        if (const auto taken = variables_.find(kRowName); taken != variables_.end())
          fault(fmt::format("{}/at/{}", at, k),
                fmt::format("'{}' stands for the rows of the tile here, and {} has that name, too", kRowName, taken->second),
                "choose another name there");
      }
      known_names(fmt::format("{}/at/{}", at, k), op.at[k], here, kernel_.tensors.size());
    }
    if (const auto end = end_of_rows(op)) known_names(at + "/attrs/before", *end, known, kernel_.tensors.size());
  }

  void tile_place(const std::string& at, const std::string& list, const TileOp& op) {
    if (op.kind != "map" && op.at.size() != 2)
      fault(at + "/at", fmt::format("{} needs the row and the column of the tile's first element, found {}", op.kind,
                                    count_of(static_cast<int>(op.at.size()), "coordinate")));
    for (std::size_t k = 0; k < op.at.size(); ++k)
      known_names(fmt::format("{}/at/{}", at, k), op.at[k], list == "body" ? body_names_ : block_names_, kernel_.tensors.size());
  }

  void operand(const std::string& pointer, const std::string& list, std::size_t index, const Operand& operand) {
    const std::string& name = operand.value;
    if (!find_value(name)) return undeclared(pointer, name);
    const auto it = definitions_.find(name);
    const Definition definition = it == definitions_.end() ? Definition{} : it->second;
    if (list != "body" && operand.distance > 0)
      return fault(pointer, fmt::format("only ops of the loop body can read an earlier iteration, found {}[-{}]", name, operand.distance),
                   list == "epilogue" ? "the epilogue sees the values of the last iteration" : "");
    if (list == "prologue") {
      if (definition.prologue == kNowhere || definition.prologue >= index)
        fault(pointer, fmt::format("'{}' is not defined before this op", name),
              definition.prologue != kNowhere ? fmt::format("move '{}' before it", kernel_.prologue[definition.prologue].name)
              : definition.body != kNowhere   ? "the loop body runs after the prologue"
                                              : "");
      return;
    }
    if (list == "epilogue") {
      if (definition.body == kNowhere && definition.prologue == kNowhere &&
          (definition.epilogue == kNowhere || definition.epilogue >= index))
        fault(pointer, fmt::format("'{}' is not defined before this op", name));
      return;
    }
    if (operand.distance > 0) {
      if (definition.body == kNowhere)
        fault(pointer, fmt::format("'{}' is not defined in the loop body, so it has no earlier iterations", name),
              definition.prologue != kNowhere ? fmt::format("did you mean {}?", name) : "");
      else if (definition.prologue == kNowhere && !numbers_only_)
        fault(pointer,
              fmt::format("nothing defines '{}' for the first {}", name,
                          operand.distance == 1 ? "iteration" : fmt::format("{} iterations", operand.distance)),
              "add an op to the prologue that defines it, a fill for instance");
      return;
    }
    if (definition.body == kNowhere) {
      if (definition.prologue == kNowhere)
        fault(pointer, fmt::format("no op defines '{}'", name), definition.epilogue != kNowhere ? "the epilogue runs after the loop" : "");
    } else if (definition.body >= index && !in_one_cycle(definition.body, index)) {
      fault(pointer, fmt::format("'{}' is read before '{}' defines it", name, kernel_.body[definition.body].name),
            fmt::format("move '{}' before this op, or read the last iteration's: {}[-1]", kernel_.body[definition.body].name, name));
    }
  }

  // ---- cycles within one iteration

  /// Strong components of the body's distance-0 dependences (Tarjan, iterative: bodies may be long). One fault per
  /// component with a cycle, which names the ops in order.
  void find_cycles() {
    const std::size_t count = kernel_.body.size();
    component_.assign(count, kNowhere);
    std::vector<std::vector<std::size_t>> next(count);
    for (std::size_t v = 0; v < count; ++v)
      for (const Operand& in : kernel_.body[v].inputs)
        if (const auto it = definitions_.find(in.value); in.distance == 0 && it != definitions_.end() && it->second.body != kNowhere)
          next[it->second.body].push_back(v);
    order_edges(next);

    std::vector<std::size_t> number(count, kNowhere), low(count, 0), edge(count, 0), stack, path;
    std::size_t counter = 0;
    for (std::size_t root = 0; root < count; ++root) {
      if (number[root] != kNowhere) continue;
      path.push_back(root);
      while (!path.empty()) {
        const std::size_t v = path.back();
        if (number[v] == kNowhere) {
          number[v] = low[v] = counter++;
          stack.push_back(v);
        }
        if (edge[v] < next[v].size()) {
          const std::size_t w = next[v][edge[v]++];
          if (number[w] == kNowhere)
            path.push_back(w);
          else if (component_[w] == kNowhere)
            low[v] = std::min(low[v], number[w]);
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[v]);
        if (low[v] != number[v]) continue;
        for (bool done = false; !done;) {
          const std::size_t w = stack.back();
          stack.pop_back();
          component_[w] = v;
          done = w == v;
        }
      }
    }
    std::set<std::size_t> reported;
    for (std::size_t v = 0; v < count; ++v) {
      const bool self = std::find(next[v].begin(), next[v].end(), v) != next[v].end();
      const bool shared = std::count(component_.begin(), component_.end(), component_[v]) > 1;
      if ((self || shared) && reported.insert(component_[v]).second) report_cycle(next, v);
    }
  }

  void order_edges(std::vector<std::vector<std::size_t>>& next) {
    std::map<std::string, std::size_t> index;
    for (std::size_t v = 0; v < kernel_.body.size(); ++v) index.emplace(kernel_.body[v].name, v);
    const auto known = names_of(kernel_.body);
    for (std::size_t e = 0; e < kernel_.order.size(); ++e) {
      const OrderEdge& edge = kernel_.order[e];
      const auto from = index.find(edge.from), to = index.find(edge.to);
      const auto missing = [&](const char* key, const std::string& name) {
        if (!name.empty()) fault(fmt::format("/order/{}/{}", e, key), fmt::format("no op '{}' in the loop body", name), guess(name, known));
      };
      if (from == index.end()) missing("from", edge.from);
      if (to == index.end()) missing("to", edge.to);
      if (from != index.end() && to != index.end() && edge.distance == 0) next[from->second].push_back(to->second);
    }
  }

  bool in_one_cycle(std::size_t a, std::size_t b) const { return component_[a] == component_[b]; }

  /// Shortest way from `start` back to itself, breadth first.
  void report_cycle(const std::vector<std::vector<std::size_t>>& next, std::size_t start) {
    std::vector<std::size_t> before(next.size(), kNowhere), queue{start};
    for (std::size_t i = 0; i < queue.size() && before[start] == kNowhere; ++i)
      for (const std::size_t w : next[queue[i]])
        if (before[w] == kNowhere) {
          before[w] = queue[i];
          queue.push_back(w);
        }
    std::vector<std::size_t> cycle{start};
    for (std::size_t v = before[start]; v != start && v != kNowhere; v = before[v]) cycle.push_back(v);
    std::reverse(cycle.begin() + 1, cycle.end());
    std::string text;
    constexpr std::size_t kShown = 8;
    for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i) text += kernel_.body[cycle[i]].name + " -> ";
    if (cycle.size() > kShown) text += "... -> ";
    text += kernel_.body[start].name;
    const std::string result = kernel_.body[start].outputs.empty() ? "x" : kernel_.body[start].outputs[0];
    fault(fmt::format("/body/{}", start), fmt::format("depends on itself within one iteration: {}", text),
          fmt::format("one of these reads must be of an earlier iteration, like {}[-1]", result));
  }

  const Kernel& kernel_;
  std::vector<Fault> faults_;
  std::map<std::string, std::string> variables_;  ///< name -> pointer
  std::vector<std::string> params_, sizes_, block_names_, body_names_;
  std::vector<std::string> value_names_;
  std::map<std::string, const TileValue*> values_;
  std::map<std::string, Definition> definitions_;
  std::vector<std::size_t> component_;  ///< of the body's distance-0 graph, per op
  bool numbers_only_ = false;
};

}  // namespace

std::vector<Fault> validate(const Kernel& kernel) { return Validator(kernel).run(); }

}  // namespace heddle
