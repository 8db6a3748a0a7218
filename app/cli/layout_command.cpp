// heddle layout: how a kernel's values lie, or a layout by itself; as text, JSON, CSV and pictures.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "app/cli/layout_png.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/answers/layout_picture.h"
#include "core/answers/layout_view.h"
#include "core/base/suggest.h"
#include "core/layout/known.h"
#include "core/library/library.h"
#include "core/triton/read/as_layout.h"

namespace heddle::app {
namespace {

constexpr std::int64_t kMostDrawn = 1 << 18;  // cells of a picture

/// Whether the first word is a layout and no kernel: what no kernel's name has in it, or a layout's name with --shape.
bool is_layout_text(const std::string& word, const Arguments& arguments) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return false;
  if (word.find_first_of("(<{") != std::string::npos || triton::is_printed_layout(word)) return true;
  if (!arguments.has("--shape")) return false;
  const std::string first = word.substr(0, word.find(' '));
  const std::vector<std::string> names = known_names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name.substr(0, name.find(' ')) == first; });
}

/// "64,64" or "64x64".
Result<std::vector<std::int64_t>> shape_of(const std::string& text) {
  const Error wrong = Error::input(fmt::format("--shape needs extents such as 64,128, not '{}'", printable(shortened(text, 40))));
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const char *at = text.data(), *end = at + text.size(); at <= end;) {
    std::int64_t extent = 0;
    const auto [next, failed] = std::from_chars(at, end, extent);
    if (failed != std::errc() || extent < 1 || (next != end && *next != ',' && *next != 'x')) return wrong;
    if (extent > kMostLayoutElements / elements || shape.size() == kMostLayoutDimensions)
      return Error::input(
          fmt::format("--shape: a tile has at most {} elements and {} dimensions", kMostLayoutElements, kMostLayoutDimensions));
    elements *= extent;
    shape.push_back(extent);
    if (next == end) break;
    at = next + 1;
  }
  return shape;
}

Result<DType> type_of(const std::string& word) {
  if (const auto dtype = parse_dtype(word)) return *dtype;
  std::vector<std::string> known;
  for (const DType dtype : {DType::F32, DType::Bf16, DType::F16, DType::F8e4m3, DType::F8e5m2, DType::I32, DType::I8, DType::I4})
    known.emplace_back(to_string(dtype));
  return Error::input(fmt::format("--type: there is no type '{}'", printable(shortened(word, 40))), "types: " + list_of(known));
}

/// What only a reader of Triton's texts understands; where they say how wide elements are, the type is one of that width.
Result<Ok> read_printed(LayoutQuestion& question, bool typed) {
  question.layout.reset();
  if (!triton::is_printed_layout(question.text)) return Ok{};
  Result<triton::PrintedLayout> printed = triton::read_layout(question.text, {question.shape, bits_of(question.dtype)});
  if (!printed) return printed.error();
  question.layout = std::move(printed->layout);
  for (const DType dtype : {DType::F16, DType::F32, DType::F8e4m3, DType::I4})
    if (!typed && printed->bits == bits_of(dtype) && printed->bits != bits_of(question.dtype)) question.dtype = dtype;
  return Ok{};
}

struct Views {
  LayoutView a;
  std::optional<LayoutView> b;
};

Result<Views> views_of_text(const Arguments& arguments) {
  LayoutQuestion question;
  question.text = *arguments.text("KERNEL");
  Error error;
  const auto keep = [&](const Error& more) { error.faults.insert(error.faults.end(), more.faults.begin(), more.faults.end()); };
  if (const auto text = arguments.text("--shape")) {
    if (auto shape = shape_of(*text))
      question.shape = *std::move(shape);
    else
      keep(shape.error());
  }
  if (const auto dtype = type_of(arguments.text("--type").value_or("f16")))
    question.dtype = *dtype;
  else
    keep(dtype.error());
  question.access = arguments.text("--access").value_or("");
  question.with = arguments.text("--with").value_or("");
  const auto machine = load_machine(arguments.text("--machine").value_or(arguments.text("MACHINE").value_or("h100")));
  if (!machine) keep(machine.error());
  if (!error.faults.empty()) return error;
  if (const auto read = read_printed(question, arguments.has("--type")); !read) return read.error();
  Result<LayoutView> a = view_of(question, *machine);
  if (!a) return a.error();
  Views views{*std::move(a), {}};
  if (const auto other = arguments.text("--compare")) {
    question.text = *other;
    if (question.shape.empty() && !is_layout_text(*other, arguments)) question.shape = {views.a.rows, views.a.columns};
    if (const auto read = read_printed(question, arguments.has("--type")); !read) return read.error();
    Result<LayoutView> b = view_of(question, *machine);
    if (!b) return b.error();
    views.b = *std::move(b);
  }
  return views;
}

Error nothing_known(const CommandInputs& inputs) {
  return Error::input(fmt::format("nothing is known of how the values of {} lie on {}", inputs.kernel().name, inputs.machine().name),
                      "machines with \"instructions\" in their file know: h100, h200, b200");
}

/// The value that --value and --op mean.
Result<std::string> value_of(const CommandInputs& inputs, const Arguments& arguments) {
  if (const auto value = arguments.text("--value")) return *value;
  const std::string op = *arguments.text("--op");
  const OpPlan* plan = inputs.problem().layouts->find(op);
  if (plan && !plan->accesses.empty()) return inputs.kernel().values[plan->accesses.front().value].name;
  std::vector<std::string> known;
  for (const LayoutListRow& row : layout_list(inputs.kernel(), inputs.problem()))
    if (row.accessed && std::find(known.begin(), known.end(), row.op) == known.end()) known.push_back(row.op);
  const std::string close = did_you_mean(op, known);
  return Error::input(fmt::format("--op: no op '{}' of {} moves a tile between registers and shared memory", printable(shortened(op, 60)),
                                  inputs.kernel().name),
                      !close.empty()  ? close
                      : known.empty() ? "none does"
                                      : "those that do: " + list_of(known));
}

Result<LayoutView> view_in(const CommandInputs& inputs, const std::string& value, const std::string& op) {
  return view_of(inputs.instance, value, op, true);
}

Result<Views> views_of_kernel(const CommandInputs& inputs, const Arguments& arguments, const Terminal& terminal) {
  const Result<std::string> value = value_of(inputs, arguments);
  if (!value) return value.error();
  const std::string op = arguments.text("--op").value_or("");
  Result<LayoutView> a = view_in(inputs, *value, op);
  if (!a) return a.error();
  Views views{*std::move(a), {}};
  const auto other = arguments.text("--compare");
  if (!other) return views;
  if (inputs.kernel().find_value(*other)) {
    Result<LayoutView> b = view_in(inputs, *other, "");
    if (!b) return b.error();
    views.b = *std::move(b);
    return views;
  }
  Arguments second = arguments;
  second.set("SCHEDULE", {*other});
  const Result<CommandInputs> b_inputs = proved_inputs(second, terminal);
  if (!b_inputs) {
    Error error = b_inputs.error();
    if (!error.faults.empty() && error.faults.front().hint.empty())
      error.faults.front().hint = did_you_mean(*other, names_of(inputs.kernel().values));
    return error;
  }
  if (!b_inputs->problem().layouts) return nothing_known(*b_inputs);
  Result<LayoutView> b = view_in(*b_inputs, *value, op);
  if (!b) return b.error();
  views.b = *std::move(b);
  views.b->title += ", " + *other;
  return views;
}

Json list_json(const CommandInputs& inputs, const std::vector<LayoutListRow>& rows) {
  Json values = Json::array();
  for (const LayoutListRow& row : rows) {
    Json json = Json::object().set("value", row.value).set("tile", row.shape).set("space", row.space).set("layout", row.layout);
    json.set("op", row.op).set("instruction", row.instruction);
    if (row.accessed) {
      json.set("known", row.cost.known).set("port", row.cost.port).set("least", row.cost.least).set("ways", row.cost.ways);
      json.set("issues", row.cost.issues).set("charged", row.charged);
    }
    if (!row.unknown.empty()) json.set("unknown", row.unknown);
    values.push(std::move(json));
  }
  return Json::object().set("kernel", inputs.kernel().name).set("machine", inputs.machine().name).set("values", std::move(values));
}

/// Pictures into their files; the exit code.
int draw(const Views& views, LayoutColour colour, const Arguments& arguments, const Terminal& terminal, bool json) {
  const auto svg = arguments.text("--svg"), png = arguments.text("--png");
  if (!svg && !png) return kDone;
  for (const LayoutView* view : {&views.a, views.b ? &*views.b : nullptr})
    if (view && std::ssize(view->cells) > kMostDrawn)
      return report(
          terminal,
          Error::input(fmt::format("{} elements are too many for a picture, which has at most {}", view->cells.size(), kMostDrawn),
                       "--csv has all of them"),
          json);
  const SvgTheme theme = arguments.text("--theme") == "dark" ? SvgTheme::Dark : SvgTheme::Light;
  LayoutDrawing drawing = draw_layout(views.a, colour, theme);
  if (views.b) drawing = drawing_pair(drawing, draw_layout(*views.b, colour, theme));
  if (svg) {
    if (const int code = write_text(terminal, *svg, svg_of(drawing))) return code;
    if (*svg != "-") terminal.note("svg written to " + *svg);
  }
  if (png) {
    const Result<Picture> picture = pixels_of(drawing);
    if (!picture) return report(terminal, picture.error(), json);
    if (const auto written = write_png(*png, *picture); !written) return report(terminal, written.error(), json);
    terminal.note("png written to " + *png);
  }
  return kDone;
}

int print_views(const Views& views, const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json"), csv = arguments.has("--csv");
  LayoutColour colour = views.a.registers ? LayoutColour::Lane : LayoutColour::Bank;
  if (const auto word = arguments.text("--colour")) colour = parse_layout_colour(*word).value_or(colour);
  if (const int code = draw(views, colour, arguments, terminal, json)) return code;
  if (arguments.text("--svg") == "-") return kDone;
  if (csv)
    terminal.out << layout_csv(views.a);
  else if (json && views.b)
    terminal.out << Json(Json::Object{{"a", layout_json(views.a)}, {"b", layout_json(*views.b)}}).pretty();
  else if (json)
    terminal.out << layout_json(views.a).pretty();
  else if (views.b)
    terminal.out << layout_pair_summary(views.a, *views.b, terminal.style);
  else
    terminal.out << layout_summary(views.a, terminal.style, colour, arguments.has("--all"));
  return kDone;
}

/// What was asked for and does not go together; empty when all is well.
std::string misfit(const Arguments& arguments, bool by_itself) {
  for (const char* option : {"--type", "--shape", "--access", "--with", "--machine"})
    if (!by_itself && arguments.has(option))
      return fmt::format("{} is for a layout by itself; a kernel's file says how its values lie", option);
  for (const char* option : {"--value", "--op", "SCHEDULE", "--param", "--subtile", "--set", "--layout", "--instruction"})
    if (by_itself && arguments.has(option))
      return fmt::format("{} is for values of a kernel, and '{}' is a layout by itself", option,
                         printable(shortened(*arguments.text("KERNEL"), 60)));
  if (by_itself && arguments.has("--machine") && arguments.has("MACHINE"))
    return "--machine and MACHINE name a machine each; leave one out";
  if (!by_itself && !arguments.has("MACHINE")) return "'layout' needs MACHINE after a kernel";
  if (arguments.text("--png") == "-") return "--png needs a file: standard output is for text";
  if (arguments.has("--csv") && arguments.has("--json")) return "--csv and --json are two forms of one answer; leave one out";
  if (arguments.has("--csv") && arguments.has("--compare")) return "--csv is a table of one layout; leave --compare out";
  const bool one = by_itself || arguments.has("--value") || arguments.has("--op");
  for (const char* option : {"--compare", "--csv", "--svg", "--png", "--colour", "--all"})
    if (!one && arguments.has(option)) return fmt::format("{} needs --value or --op: which value is meant", option);
  return {};
}

}  // namespace

int run_layout(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const bool by_itself = is_layout_text(*arguments.text("KERNEL"), arguments);
  if (const std::string wrong = misfit(arguments, by_itself); !wrong.empty()) return refuse(terminal, wrong, json);
  for (const char* option : {"--svg", "--png"})
    if (const auto path = arguments.text(option))
      if (const int failed = expect_writable(terminal, *path, json)) return failed;
  if (by_itself) {
    const Result<Views> views = views_of_text(arguments);
    return views ? print_views(*views, arguments, terminal) : report(terminal, views.error(), json);
  }
  const Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  if (!inputs->problem().layouts) return report(terminal, nothing_known(*inputs), json);
  if (arguments.has("--value") || arguments.has("--op")) {
    const Result<Views> views = views_of_kernel(*inputs, arguments, terminal);
    return views ? print_views(*views, arguments, terminal) : report(terminal, views.error(), json);
  }
  const std::vector<LayoutListRow> rows = layout_list(inputs->kernel(), inputs->problem());
  if (json)
    terminal.out << list_json(*inputs, rows).pretty();
  else
    terminal.out << layout_list_summary(rows, terminal.style);
  return kDone;
}

}  // namespace heddle::app
