#include "app/session/triton_origins.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/scanner.h"
#include "core/base/text_style.h"

namespace heddle::app {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kMostBytes = 8 << 20;  // of a source program that is looked into

}  // namespace

std::string in_words(const Fault& fault) {
  const std::string place = fault.pointer.empty() ? "" : "line " + fault.pointer.substr(0, fault.pointer.find(':')) + ": ";
  return printable(place + fault.message + (fault.hint.empty() ? "" : " (" + fault.hint + ")"));
}

const triton::Origin* origin_of(const TritonText& source, const std::string& op) {
  const triton::Native* native = source.native();
  if (!native) return nullptr;
  const triton::Origin* found = nullptr;
  for (const triton::Origin& origin : native->origins) {
    if (op.size() < origin.op.size() || !op.starts_with(origin.op)) continue;
    std::string_view rest = std::string_view(op).substr(origin.op.size());
    if (rest.size() > 1 && rest.front() == '_') rest.remove_prefix(1);  // a part of one whose name ends in a number
    const bool part = std::all_of(rest.begin(), rest.end(), is_digit);
    if (rest.empty()) return &origin;
    if (part && (!found || found->op.size() < origin.op.size())) found = &origin;
  }
  return found;
}

std::vector<OpId> ops_from(const TritonText& source, const Problem& problem, mlir::OpId op) {
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const triton::Origin* origin = origin_of(source, problem.ops[i].name);
    if (origin && std::find(origin->of.begin(), origin->of.end(), op) != origin->of.end()) ops.push_back(OpId(i));
  }
  return ops;
}

OpId op_at_line(const TritonText& source, const Problem& problem, int line) {
  const TritonText::SharedProgram program = source.program();
  if (!program) return {};
  const mlir::Module& module = *(*program)->module;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const triton::Origin* origin = origin_of(source, problem.ops[i].name);
    if (origin && std::any_of(origin->of.begin(), origin->of.end(), [&](mlir::OpId of) { return module.op(of).line == line; }))
      return OpId(i);
  }
  return {};
}

std::string find_source_file(const TritonText& source, const std::string& file) {
  if (file.empty()) return {};
  std::error_code code;
  const fs::path named(file), path(source.path());
  const fs::path folder = fs::is_directory(path, code) ? path : path.parent_path();
  std::vector<fs::path> places;
  if (named.is_absolute())
    places.push_back(named);
  else
    places.push_back(folder / named);
  places.push_back(folder / named.filename());
  for (const fs::path& place : places)
    if (fs::is_regular_file(place, code) && !code) return place.lexically_normal().string();
  return {};
}

std::string line_of_file(const std::string& path, int line) {
  std::error_code code;
  if (line < 1 || path.empty() || !fs::is_regular_file(path, code) || fs::file_size(path, code) > kMostBytes || code) return {};
  std::ifstream in(path);
  std::string text;
  for (int i = 0; i < line; ++i)
    if (!std::getline(in, text)) return {};
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? std::string() : printable(text.substr(first, last - first + 1));
}

}  // namespace heddle::app
