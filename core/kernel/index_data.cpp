#include "core/kernel/index_data.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <list>
#include <mutex>
#include <set>

#include "core/base/open_file.h"
#include "core/base/saturate.h"
#include "core/base/scanner.h"
#include "core/base/split.h"
#include "core/base/text_style.h"
#include "core/kernel/structure.h"

namespace heddle {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers and are read as they are");

using Numbers = std::shared_ptr<const std::vector<std::int32_t>>;

/// The last few structures. Solving asks for the same kernel again and again, and parts of one structure come in pairs.
class Kept {
 public:
  template <class Make>
  Result<Numbers> find_or(const std::string& key, Make make) {
    {
      const std::scoped_lock lock(mutex_);
      for (auto it = list_.begin(); it != list_.end(); ++it)
        if (it->first == key) {
          list_.splice(list_.begin(), list_, it);
          return it->second;
        }
    }
    Result<Numbers> made = make();
    if (made) {
      const std::scoped_lock lock(mutex_);
      list_.emplace_front(key, *made);
      if (list_.size() > kMost) list_.pop_back();
    }
    return made;
  }

 private:
  static constexpr std::size_t kMost = 12;
  std::mutex mutex_;
  std::list<std::pair<std::string, Numbers>> list_;
};

Kept& kept() {
  static Kept kept;
  return kept;
}

std::string_view bare(std::string_view text) { return trimmed(text, " "); }

Result<Numbers> read_numbers(const std::string& path, std::int64_t wanted) {
  struct stat facts = {};
  Result<Descriptor> file = open_to_read(path, &facts);
  if (!file) return file.error();
  if (!S_ISREG(facts.st_mode)) return Error::input(fmt::format("'{}' is no file on disk", path));
  if (facts.st_size != 4 * wanted)
    return Error::input(fmt::format("'{}' has {} bytes; {} numbers of 32 bits have {}", path, facts.st_size, wanted, 4 * wanted),
                        facts.st_size < 4 * wanted ? "it ends early" : "it has more than the shape says");
  return kept().find_or(fmt::format("{}\n{} {} {}", path, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec),
                        [&]() -> Result<Numbers> {
                          auto numbers = std::make_shared<std::vector<std::int32_t>>(static_cast<std::size_t>(wanted));
                          std::size_t done = 0;
                          const std::size_t all = numbers->size() * 4;
                          while (done < all) {
                            const ssize_t count = ::read(file->get(), reinterpret_cast<char*>(numbers->data()) + done, all - done);
                            if (count < 0 && errno == EINTR) continue;
                            if (count < 0) return Error::input(fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
                            if (count == 0) return Error::input(fmt::format("'{}' ends early, after {} of {} bytes", path, done, all));
                            done += static_cast<std::size_t>(count);
                          }
                          return Numbers(std::move(numbers));
                        });
}

class TableReader {
 public:
  TableReader(const Kernel& kernel, Scope scope) : kernel_(kernel), scope_(std::move(scope)) {}

  Result<Scope> run() {
    for (std::size_t t = 0; t < kernel_.tensors.size(); ++t)
      if (kernel_.tensors[t].role == TensorRole::Index) read(kernel_.tensors[t], fmt::format("/tensors/{}", t));
    if (!faults_.empty()) return Error{ErrorKind::Input, std::move(faults_)};
    return std::move(scope_);
  }

 private:
  void fault(const std::string& pointer, std::string message, std::string hint = {}) {
    faults_.push_back({kernel_.source, pointer, std::move(message), std::move(hint)});
  }
  void add(const std::string& pointer, const Error& error) {
    for (const Fault& f : error.faults) fault(pointer, f.file.empty() ? f.message : fmt::format("{}: {}", f.file, f.message), f.hint);
  }

  void read(const Tensor& tensor, const std::string& at) {
    IndexTable table;
    std::int64_t size = 1;
    const std::size_t before = faults_.size();
    // What looks up a tensor that could not be read is not at fault itself.
    missing_.insert(tensor.name);
    std::vector<const Expr*> used;
    for (const Expr& extent : tensor.shape) used.push_back(&extent);
    if (tensor.below) used.push_back(&*tensor.below);
    for (std::size_t a = 0; tensor.data && tensor.data->call && a < tensor.data->call->arguments.size(); ++a)
      used.push_back(&tensor.data->call->arguments[a].second);
    for (const Expr* expr : used)
      for (const std::string& name : expr->tables())
        if (missing_.contains(name)) return;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      const Result<std::int64_t> extent = tensor.shape[d].evaluate(scope_);
      const std::string here = fmt::format("{}/shape/{}", at, d);
      if (!extent)
        add(here, extent.error());
      else if (*extent < 1)
        fault(here, fmt::format("tensor '{}': an extent must be at least 1, found {}", tensor.name, *extent));
      else
        table.shape.push_back(*extent), size = sat_mul(size, *extent);
    }
    if (faults_.size() != before) return;
    if (size > kMostIndices)
      return fault(at + "/shape", fmt::format("index tensor '{}' has {} numbers; at most {} are held", tensor.name, size, kMostIndices));
    Result<Numbers> numbers = contents(tensor, size);
    if (!numbers) return add(at + "/data", numbers.error());
    if (static_cast<std::int64_t>((*numbers)->size()) != size)
      return fault(at + "/data",
                   fmt::format("index tensor '{}' has {} by its shape, found {}", tensor.name, counted(size), (*numbers)->size()));
    judge(tensor, **numbers, at);
    if (faults_.size() != before) return;
    missing_.erase(tensor.name);
    table.values = *numbers;
    auto tables = std::make_shared<IndexTables>(scope_.tables ? *scope_.tables : IndexTables{});
    tables->insert_or_assign(tensor.name, std::move(table));
    scope_.tables = std::move(tables);
  }

  static std::string counted(std::int64_t count) { return count_of(count, "number"); }

  Result<Numbers> contents(const Tensor& tensor, std::int64_t size) {
    if (!tensor.data) return Error::input(fmt::format("index tensor '{}' has no data", tensor.name));
    const IndexData& data = *tensor.data;
    if (data.text.empty()) {
      std::vector<std::int32_t> list;
      for (const std::int64_t number : data.numbers) list.push_back(static_cast<std::int32_t>(number));
      return Numbers(std::make_shared<std::vector<std::int32_t>>(std::move(list)));
    }
    if (data.call) return generated(*data.call);
    const std::filesystem::path file(data.text);
    return read_numbers(file.is_absolute() ? data.text : (std::filesystem::path(kernel_.source).parent_path() / file).string(), size);
  }

  Result<Numbers> generated(const IndexData::Call& call) {
    std::map<std::string, std::int64_t> arguments;
    std::string key = call.generator + "." + call.part;
    Error error;
    for (const auto& [name, expr] : call.arguments) {
      const Result<std::int64_t> value = expr.evaluate(scope_);
      if (!value) {
        error.faults.insert(error.faults.end(), value.error().faults.begin(), value.error().faults.end());
        continue;
      }
      arguments[name] = *value;
      key += fmt::format(" {}={}", name, *value);
    }
    if (!error.faults.empty()) return error;
    return kept().find_or(key, [&]() -> Result<Numbers> {
      Result<std::vector<std::int32_t>> made = make_structure(call.generator, arguments, call.part);
      if (!made) return made.error();
      return Numbers(std::make_shared<std::vector<std::int32_t>>(*std::move(made)));
    });
  }

  void judge(const Tensor& tensor, const std::vector<std::int32_t>& numbers, const std::string& at) {
    std::int64_t below = std::int64_t{1} << 31;
    if (tensor.below) {
      const Result<std::int64_t> bound = tensor.below->evaluate(scope_);
      if (!bound) return add(at + "/below", bound.error());
      below = *bound;
    }
    std::int64_t outside = 0, falls = 0;
    std::size_t first_outside = 0, first_fall = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if ((numbers[i] < -1 || numbers[i] >= below) && outside++ == 0) first_outside = i;
      if (tensor.rising && i > 0 && numbers[i] < numbers[i - 1] && falls++ == 0) first_fall = i;
    }
    if (outside > 0)
      fault(at + "/data",
            fmt::format("number {} of '{}' is {}, expected -1 (nothing) to {}{}", first_outside, tensor.name, numbers[first_outside],
                        below - 1, outside > 1 ? fmt::format("; {} are outside in all", outside) : ""));
    if (falls > 0)
      fault(at + "/data",
            fmt::format("number {} of '{}' is {} after {}, and its numbers may not fall{}", first_fall, tensor.name, numbers[first_fall],
                        numbers[first_fall - 1], falls > 1 ? fmt::format("; they do {} times", falls) : ""));
  }

  const Kernel& kernel_;
  Scope scope_;
  std::vector<Fault> faults_;
  std::set<std::string> missing_;  ///< could not be read
};

}  // namespace

Result<IndexData> parse_index_data(std::string_view text) {
  IndexData data;
  data.text = std::string(text);
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) {
    if (bare(text).empty()) return Error::input("expected a generator like causal(rows=64).rowptr, or the name of a file");
    return data;
  }
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos || close < open || close + 2 >= text.size() || text[close + 1] != '.')
    return Error::input(fmt::format("expected GENERATOR(NAME=VALUE, ...).PART, found \"{}\"", text), "as in causal(rows=64).rowptr");
  IndexData::Call call{std::string(bare(text.substr(0, open))), {}, std::string(bare(text.substr(close + 2)))};
  Error error;
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  for (const std::string_view argument : bare(inside).empty() ? std::vector<std::string_view>{} : split_outside(inside, "([", ")]")) {
    const std::size_t equals = argument.find('=');
    const std::string name(bare(argument.substr(0, equals)));
    if (equals == std::string_view::npos || name.empty()) {
      error.faults.push_back({{}, {}, fmt::format("expected NAME=VALUE, found \"{}\"", bare(argument)), {}});
      continue;
    }
    Result<Expr> value = Expr::parse(bare(argument.substr(equals + 1)));
    if (!value)
      error.faults.insert(error.faults.end(), value.error().faults.begin(), value.error().faults.end());
    else if (std::any_of(call.arguments.begin(), call.arguments.end(), [&](const auto& other) { return other.first == name; }))
      error.faults.push_back({{}, {}, fmt::format("argument '{}' is given twice", name), {}});
    else
      call.arguments.emplace_back(name, *std::move(value));
  }
  if (!error.faults.empty()) return error;
  data.call = std::move(call);
  return data;
}

Result<Scope> with_index_tables(const Kernel& kernel, Scope scope) {
  if (std::none_of(kernel.tensors.begin(), kernel.tensors.end(), [](const Tensor& t) { return t.role == TensorRole::Index; })) return scope;
  return TableReader(kernel, std::move(scope)).run();
}

}  // namespace heddle
