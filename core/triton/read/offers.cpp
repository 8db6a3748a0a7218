#include "core/triton/read/offers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/letters.h"
#include "core/base/open_file.h"
#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/triton/read/files.h"

namespace heddle::triton {
namespace {

constexpr std::uint64_t kLargestLog = std::uint64_t{256} << 20;
constexpr std::size_t kMostToTry = std::size_t{8} << 20;  // bytes of text that are read just to say whether they can be
constexpr std::size_t kMostMetadata = 400;                // files that are opened for what a list says of them

/// "name:2" is the second of that name.
std::pair<std::string_view, std::optional<int>> numbered(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  const auto number = colon == std::string_view::npos ? std::nullopt : read_number<int>(word.substr(colon + 1));
  return {number ? word.substr(0, colon) : word, number};
}

std::string pass_word(const FoundText& text) {
  const std::string name = text.pass.empty() ? "unnamed" : text.pass;
  return text.run > 1 ? fmt::format("{}:{}", name, text.run) : name;
}

bool means_pass(std::string_view word, const FoundText& text) {
  const auto [name, number] = numbered(word);
  const bool same = lower_case(name) == lower_case(text.pass.empty() ? "unnamed" : text.pass) ||
                    (!text.pass_class.empty() && lower_case(name) == lower_case(text.pass_class));
  return same && number.value_or(1) == text.run;
}

bool means_kernel(std::string_view word, const FoundText& text) {
  if (word == text.kernel) return true;
  if (text.folder.size() >= 6 && word.size() >= 4 && text.folder.starts_with(word)) return true;
  const auto [name, number] = numbered(word);
  if (number && name == text.kernel && *number == text.compile_of_kernel) return true;
  return word.find('.') != std::string_view::npos && text.path.ends_with("/" + std::string(word));
}

struct Shape {
  std::set<std::size_t> compiles;
  std::map<std::string, std::set<std::size_t>> of_kernel;  ///< compiles
  std::map<std::size_t, std::size_t> texts_of;             ///< each compile
};

Shape shape_of(const std::vector<FoundText>& texts) {
  Shape shape;
  for (const FoundText& text : texts) {
    shape.compiles.insert(text.compile);
    shape.of_kernel[text.kernel].insert(text.compile);
    ++shape.texts_of[text.compile];
  }
  return shape;
}

/// The first letters of a folder's name that no other folder in the list begins with.
std::string short_folder(const FoundText& text, const std::vector<FoundText>& texts) {
  for (std::size_t length = 8; length < text.folder.size(); length += 4) {
    const std::string start = text.folder.substr(0, length);
    if (std::none_of(texts.begin(), texts.end(),
                     [&](const FoundText& other) { return other.folder != text.folder && other.folder.starts_with(start); }))
      return start;
  }
  return text.folder;
}

std::string words_of(const FoundText& text, const Shape& shape, const std::vector<FoundText>& texts) {
  const bool several = shape.compiles.size() > 1;
  std::string words;
  if (several) {
    words = text.kernel;
    if (shape.of_kernel.at(text.kernel).size() > 1) {
      const bool in_folder =
          !text.folder.empty() && std::count_if(texts.begin(), texts.end(), [&](const FoundText& other) {
                                    return other.folder == text.folder && other.kernel == text.kernel && other.compile != text.compile;
                                  }) == 0;
      words = in_folder ? short_folder(text, texts) : fmt::format("{}:{}", text.kernel, text.compile_of_kernel);
      if (in_folder && std::any_of(texts.begin(), texts.end(),
                                   [&](const FoundText& other) { return other.folder == text.folder && other.kernel != text.kernel; }))
        words = text.kernel + "," + words;
    }
    if (text.usual) return words;
  }
  if (shape.texts_of.at(text.compile) > 1) words += (words.empty() ? "" : ",") + pass_word(text);
  return words;
}

std::string value_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  std::size_t begin = at + name.size();
  while (begin < text.size() && (text[begin] == '"' || text[begin] == ' ' || text[begin] == '=')) ++begin;
  std::size_t end = begin;
  while (end < text.size() && text[end] != '"' && text[end] != ' ' && text[end] != ',' && text[end] != '}' && text[end] != '\n' &&
         end < begin + 32)
    ++end;
  return std::string(text.substr(begin, end - begin));
}

std::string target_in(std::string_view text) {
  for (const char* name : {"ttg.target", "triton_gpu.target"}) {
    const std::string target = value_of(text, name);
    if (target.starts_with("cuda:")) return "sm_" + target.substr(5);
    if (!target.empty()) return target;
  }
  return {};
}

/// What can be told without reading the text as a program.
std::string detail_of(std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  const bool staged = has("loop.stage = "), barriers = has("async_copy_global_to_local") || has("async_tma_copy") || has(".init_barrier");
  TextForm form = staged ? TextForm::Scheduled : barriers ? TextForm::Final : TextForm::Input;
  if (has("ttg.warp_specialize("))
    form = staged ? TextForm::Specialized : TextForm::Final;
  else if (has("ttg.partition = "))
    form = TextForm::Partitioned;
  std::string detail = to_string(form);
  for (const char* name : {"ttg.num-warps\"", "triton_gpu.num-warps\""})
    if (const std::string warps = value_of(text, name); !warps.empty()) return detail + ", " + warps + (warps == "1" ? " warp" : " warps");
  return detail;
}

std::string detail_of(const Metadata& metadata) {
  std::string detail;
  const auto add = [&](const std::string& part) { detail += (detail.empty() ? "" : ", ") + part; };
  if (metadata.num_warps) add(fmt::format("{} warps", *metadata.num_warps));
  if (metadata.num_stages) add(fmt::format("num_stages {}", *metadata.num_stages));
  if (metadata.shared) add(fmt::format("{} bytes of shared memory", *metadata.shared));
  if (!metadata.triton_version.empty()) add("Triton " + metadata.triton_version);
  return detail;
}

}  // namespace

std::string head_of(const std::string& path, std::size_t bytes) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return {};  // of a pipe nothing may be taken away
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return {};
  std::string head(bytes, '\0');
  std::size_t size = 0;
  while (size < bytes) {
    const ssize_t got = ::read(file.get(), head.data() + size, bytes - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  head.resize(size);
  return head;
}

bool begins_like_trace(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \r\n\t");
  if (begin == std::string_view::npos || head[begin] != '{') return false;
  return head.find("\"event_type\"") != std::string_view::npos &&
         (head.find("\"payload\"") != std::string_view::npos || head.find("\"stack\"") != std::string_view::npos);
}

bool begins_like_text(std::string_view head) {
  if (head.find('\0') != std::string_view::npos) return false;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    const std::string_view line = head.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("// -----// IR Dump ")) return true;
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) continue;
    const std::string_view words = line.substr(first);
    if (words.starts_with("tt.func ") ||
        (words.starts_with("module") && words.find("attributes {") != std::string_view::npos &&
         (words.find("ttg.") != std::string_view::npos || words.find("triton_gpu.") != std::string_view::npos)))
      return true;
    if (first > 0 || line[0] != '#') continue;
    for (const char* alias : {" = #ttg.", " = #ttng.", " = #triton_gpu.", " = #triton_nvidia_gpu.", " = loc("})
      if (line.find(alias) != std::string_view::npos && line.find(' ') == line.find(alias)) return true;
  }
  return false;
}

Result<std::vector<FoundText>> find_texts(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return read_folder(path);
  const std::string head = head_of(path, kHeadBytes);
  if (head.starts_with("\x1f\x8b")) return Error::in_file(path, "this file is compressed", "decompress it first: gunzip -k FILE");
  if (begins_like_trace(head)) return read_trace(path);
  const Result<std::string> content = read_file(path, kLargestLog);
  if (!content) return content.error();
  if (!begins_like_text(*content))
    return Error::in_file(path, "this is no text that Triton's compiler prints",
                          "expected a .ttgir, a log of MLIR_ENABLE_DUMP=1, a folder of Triton's cache or a tritonparse log");
  std::vector<FoundText> texts = cut_log(*content, path);
  if (texts.empty())
    return Error::in_file(path, "this log holds no kernel in Triton's GPU dialect",
                          "it takes MLIR_ENABLE_DUMP=1 and a kernel that is compiled, not taken from the cache (TRITON_ALWAYS_COMPILE=1)");
  return texts;
}

Result<LoadedText> load_text(const FoundText& found) {
  if (found.loaded) {
    const bool own_file = found.pass.empty() && found.metadata.file.empty();
    return LoadedText{found.text, own_file ? metadata_beside(found.path) : found.metadata};
  }
  Result<std::string> text = read_file(found.path);
  if (!text) return text.error();
  return LoadedText{*std::move(text), metadata_beside(found.path)};
}

Result<const FoundText*> choose_text(const std::vector<FoundText>& texts, const TextAddress& address) {
  const Shape shape = shape_of(texts);
  std::vector<std::string> known;
  for (const FoundText& text : texts)
    if (std::string words = words_of(text, shape, texts); !words.empty()) known.push_back(std::move(words));
  std::vector<const FoundText*> left;
  for (const FoundText& text : texts) left.push_back(&text);
  bool by_pass = false;
  for (const std::string& word : address.words) {
    const auto is_meant = [&](const FoundText& text) { return means_pass(word, text) || means_kernel(word, text); };
    if (std::none_of(texts.begin(), texts.end(), is_meant)) {
      std::vector<std::string> single;
      for (const FoundText& text : texts) {
        single.push_back(pass_word(text));
        single.push_back(text.kernel);
      }
      const std::string guess = did_you_mean(word, single);
      return Error::in_file(address.path, fmt::format("'{}' after # is no pass, kernel, loop or reading of it", word),
                            !guess.empty()  ? guess
                            : known.empty() ? "it has one text; after # may stand a loop's number, triton or free"
                                            : "it has " + list_of(known));
    }
    by_pass |= std::any_of(texts.begin(), texts.end(), [&](const FoundText& text) { return means_pass(word, text); });
    std::erase_if(left, [&](const FoundText* text) { return !is_meant(*text); });
  }
  if (left.empty()) return Error::in_file(address.path, "no text of it is all that stands after the #", "it has " + list_of(known));
  std::set<std::size_t> compiles;
  for (const FoundText* text : left) compiles.insert(text->compile);
  if (compiles.size() > 1) {
    std::vector<std::string> kernels;
    for (const FoundText* text : left)
      if (text->usual || by_pass) kernels.push_back(words_of(*text, shape, texts));
    return Error::in_file(address.path,
                          fmt::format("it holds {} kernels; say which one, like {}#{}", compiles.size(), address.path,
                                      kernels.empty() ? "KERNEL" : kernels[0]),
                          "it has " + list_of(kernels));
  }
  if (by_pass) return left.front();
  for (const FoundText* text : left)
    if (text->usual) return text;
  return left.back();
}

std::string address_words(const FoundText& text, const std::vector<FoundText>& texts) { return words_of(text, shape_of(texts), texts); }

Result<std::vector<Offer>> list_offers(const std::string& path) {
  const Result<std::vector<FoundText>> texts = find_texts(path);
  if (!texts) return texts.error();
  const Shape shape = shape_of(*texts);
  const bool several = shape.compiles.size() > 1;
  std::size_t bytes = 0, opened = 0;
  for (const FoundText& text : *texts) bytes += text.text.size();
  std::vector<Offer> offers;
  for (const FoundText& text : *texts) {
    Offer offer;
    offer.words = words_of(text, shape, *texts);
    offer.kernel = text.kernel;
    offer.usual = text.usual && !several;
    std::string when = text.pass;
    if (text.pass == "reproducer")
      when = "before the passes that failed";
    else if (text.pass.starts_with("after-"))
      when = "after " + text.pass.substr(6);
    else if (!text.pass.empty())
      when = "before " + text.pass;
    if (text.run > 1) when += fmt::format(", time {}", text.run);
    const std::string target = text.loaded ? target_in(text.text) : std::string();
    const std::string name = text.kernel.empty() ? std::string("a kernel without a name") : text.kernel;
    offer.title = when.empty() ? name : several ? name + ", " + when : when;
    if (text.loaded) {
      if (when.empty() && !target.empty()) offer.title += " (" + target + ")";
      offer.detail = detail_of(text.text);
      if (!text.pass.empty()) offer.detail += fmt::format(", line {}", text.line);
      if (!text.metadata.triton_version.empty()) offer.detail += ", Triton " + text.metadata.triton_version;
      if (texts->size() > 1 && bytes <= kMostToTry)
        if (const auto module = mlir::parse(text.text, path); !module)
          offer.detail = "cannot be read: " + to_string(Fault{{}, module.error().faults[0].pointer, module.error().faults[0].message, {}});
    } else if (opened < kMostMetadata) {
      ++opened;
      const Metadata metadata = metadata_beside(text.path);
      if (metadata.target) offer.title += fmt::format(" (sm_{})", *metadata.target);
      offer.detail = detail_of(metadata);
    }
    offers.push_back(std::move(offer));
  }
  return offers;
}

}  // namespace heddle::triton
