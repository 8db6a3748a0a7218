#include "app/jobs/graph_layout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/base/process.h"
#include "core/base/scanner.h"

namespace heddle::app {
namespace {

constexpr float kInch = 72;
constexpr std::size_t kMostAnswer = std::size_t{64} << 20;

/// Words of a line; a quoted one without its quotes.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ') {
      ++i;
      continue;
    }
    const bool quoted = line[i] == '"';
    const std::size_t begin = quoted ? i + 1 : i;
    const std::size_t end = std::min(line.find(quoted ? '"' : ' ', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    i = end + 1;
  }
  return words;
}

std::optional<float> number(std::string_view word) {
  const auto value = read_number<float>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::size_t> node_index(std::string_view word, std::size_t count) {
  const auto index = word.starts_with('n') ? read_number<std::size_t>(word.substr(1)) : std::nullopt;
  return index && *index < count ? index : std::nullopt;
}

/// Reads one line after the other into a layout.
class Reader {
 public:
  explicit Reader(const GraphInput& input) : input_(input) {
    layout_.nodes.resize(input.node_widths.size());
    layout_.arcs.resize(input.arcs.size());
    for (std::size_t a = 0; a < input.arcs.size(); ++a) {
      const GraphInput::Arc& arc = input.arcs[a];
      arc_of_[{arc.against ? arc.to : arc.from, arc.against ? arc.from : arc.to, arc.against}] = a;
    }
  }

  bool take(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0] == "stop") return true;
    if (words[0] == "graph") return words.size() >= 4 && take_size(words);
    if (words[0] == "node") return words.size() >= 4 && take_node(words);
    if (words[0] == "edge") return words.size() >= 6 && take_arc(words);
    return false;
  }

  bool complete() const { return sized_ && nodes_ == layout_.nodes.size() && arcs_ == layout_.arcs.size(); }
  GraphLayout result() { return std::move(layout_); }

 private:
  std::optional<GraphPoint> point(std::string_view x, std::string_view y) const {
    const auto a = number(x), b = number(y);
    if (!a || !b) return std::nullopt;
    return GraphPoint{*a * kInch, layout_.height - *b * kInch};
  }

  bool take_size(const std::vector<std::string_view>& words) {
    const auto width = number(words[2]), height = number(words[3]);
    if (!width || !height) return false;
    layout_.width = *width * kInch;
    layout_.height = *height * kInch;
    return sized_ = true;
  }

  bool take_node(const std::vector<std::string_view>& words) {
    const auto index = node_index(words[1], layout_.nodes.size());
    const auto at = point(words[2], words[3]);
    if (!index || !at) return false;
    layout_.nodes[*index] = *at;
    ++nodes_;
    return true;
  }

  bool take_arc(const std::vector<std::string_view>& words) {
    const auto tail = node_index(words[1], layout_.nodes.size()), head = node_index(words[2], layout_.nodes.size());
    const auto count = number(words[3]);
    if (!tail || !head || !count || *count < 4 || *count > 100000) return false;
    const auto points = static_cast<std::size_t>(*count);
    if (words.size() < 4 + 2 * points + 2 || points % 3 != 1) return false;
    const std::string_view style = words[words.size() - 2];
    const auto found = arc_of_.find({*tail, *head, style == "dashed"});
    if (found == arc_of_.end()) return false;
    GraphLayout::Arc& arc = layout_.arcs[found->second];
    if (!arc.curve.empty()) return false;
    for (std::size_t i = 0; i < points; ++i) {
      const auto at = point(words[4 + 2 * i], words[5 + 2 * i]);
      if (!at) return false;
      arc.curve.push_back(*at);
    }
    if (style == "dashed") std::reverse(arc.curve.begin(), arc.curve.end());
    arc.label = arc.curve[arc.curve.size() / 2];
    if (words.size() == 4 + 2 * points + 5) {
      const auto label = point(words[5 + 2 * points], words[6 + 2 * points]);
      if (!label) return false;
      arc.label = *label;
    }
    ++arcs_;
    return true;
  }

  const GraphInput& input_;
  GraphLayout layout_;
  std::map<std::tuple<std::size_t, std::size_t, bool>, std::size_t> arc_of_;  ///< as written; whether dashed
  std::size_t nodes_ = 0, arcs_ = 0;
  bool sized_ = false;
};

}  // namespace

std::string layout_request(const GraphInput& input) {
  std::string text = fmt::format(
      "digraph {{\nrankdir={};\nranksep={};\nnodesep=0.14;\nnode [shape=box, fixedsize=true, height={:.3f}, label=\"\"];\nedge "
      "[fontsize=9, arrowhead=none];\n",
      input.downwards ? "TB" : "LR", input.downwards ? "0.3" : "0.35", input.node_height / kInch);
  for (std::size_t v = 0; v < input.node_widths.size(); ++v) text += fmt::format("n{} [width={:.3f}];\n", v, input.node_widths[v] / kInch);
  for (const GraphInput::Arc& arc : input.arcs) {
    // Room for a label is asked for as a label: so many zeros of half the font's size each.
    const auto digits = static_cast<std::size_t>(std::ceil(arc.label_width / 4.5f));
    text += fmt::format("n{} -> n{} [style={}{}];\n", arc.against ? arc.to : arc.from, arc.against ? arc.from : arc.to,
                        arc.against ? "dashed" : "solid", digits > 0 ? fmt::format(", label=\"{}\"", std::string(digits, '0')) : "");
  }
  return text + "}\n";
}

Result<GraphLayout> read_layout(const GraphInput& input, const std::string& plain) {
  Reader reader(input);
  std::size_t at = 0;
  while (at < plain.size()) {
    const std::size_t end = std::min(plain.find('\n', at), plain.size());
    if (!reader.take(std::string_view(plain).substr(at, end - at)))
      return Error::environment("Graphviz answered with something else than a layout");
    at = end + 1;
  }
  if (!reader.complete()) return Error::environment("Graphviz left out a part of the graph");
  return reader.result();
}

Result<GraphLayout> lay_out(const GraphInput& input, const std::string& program, std::stop_token stop, std::chrono::milliseconds limit) {
  // A file as its input, so that no write can block or raise SIGPIPE.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> request(std::tmpfile(), &std::fclose);
  const std::string text = layout_request(input);
  if (!request || std::fwrite(text.data(), 1, text.size(), request.get()) != text.size() || std::fflush(request.get()) != 0 ||
      std::fseek(request.get(), 0, SEEK_SET) != 0)
    return Error::environment("the graph's layout needs a temporary file, and none could be written");
  std::optional<Pipe> pipe = make_pipe();
  if (!pipe) return Error::environment("the graph's layout needs a pipe, and none could be made");
  const Error no_graphviz =
      Error::environment(fmt::format("the graph is laid out by Graphviz, and its program '{}' is not on this machine", program),
                         "install it (Debian: apt-get install graphviz); everything else works without it");
  Process child(
      {{program, "-Tplain"}, {{STDIN_FILENO, ::fileno(request.get())}, {STDOUT_FILENO, pipe->to.get()}, {STDERR_FILENO, -1}}, true});
  if (child.failure() != 0) return no_graphviz;
  pipe->to.close();

  std::string answer, trouble;
  const auto began = std::chrono::steady_clock::now();
  listen({{&pipe->from, [&](std::string_view bytes) { answer += bytes; }}}, [&] {
    if (stop.stop_requested())
      trouble = "the layout was cancelled";
    else if (std::chrono::steady_clock::now() - began > limit)
      trouble = "Graphviz did not lay the graph out in time";
    else if (answer.size() > kMostAnswer)
      trouble = "Graphviz answered with far too much";
    return trouble.empty();
  });
  if (!trouble.empty()) return Error::environment(trouble);
  const ProcessEnd end = child.wait();
  if (end.code == 127) return Error::environment(no_graphviz.faults.front().message);
  if (end.code != 0) return Error::environment("Graphviz failed on this graph");
  return read_layout(input, answer);
}

LayoutJob::LayoutJob(GraphInput input, std::string program)
    : input_(std::move(input)),
      worker_([input = input_, program = std::move(program)](
                  std::stop_token stop, const auto&) { return std::make_shared<Result<GraphLayout>>(lay_out(input, program, stop)); },
              [](std::string why) { return std::make_shared<Result<GraphLayout>>(Error::environment("the layout failed: " + why)); }, {}) {}

std::unique_ptr<Result<GraphLayout>> LayoutJob::take() {
  for (Answer& answer : worker_.drain()) return std::make_unique<Result<GraphLayout>>(std::move(*answer));
  return nullptr;
}

}  // namespace heddle::app
