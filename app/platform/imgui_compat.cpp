// Up to 1.86 keys are the windowing backend's own numbers (GLFW's here, also in the headless platform); from 1.87 on they are named and
// input arrives through an event queue.
#include "app/platform/imgui_compat.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/assert.h"

namespace heddle::app {
namespace {

#if IMGUI_VERSION_NUM < 18700
// GLFW 3 key numbers; letters and digits are ASCII.
int code_of(Key key) {
  if (key <= Key::Z) return 'A' + static_cast<int>(key);
  if (key <= Key::Num9) return '0' + static_cast<int>(key) - static_cast<int>(Key::Num0);
  if (key <= Key::F12) return 290 + static_cast<int>(key) - static_cast<int>(Key::F1);
  switch (key) {
    case Key::Left: return 263;
    case Key::Right: return 262;
    case Key::Up: return 265;
    case Key::Down: return 264;
    case Key::Home: return 268;
    case Key::End: return 269;
    case Key::PageUp: return 266;
    case Key::PageDown: return 267;
    case Key::Period: return '.';
    case Key::Comma: return ',';
    case Key::LeftBracket: return '[';
    case Key::RightBracket: return ']';
    case Key::Slash: return '/';
    case Key::Minus: return '-';
    case Key::Equal: return '=';
    case Key::Semicolon: return ';';
    case Key::Apostrophe: return '\'';
    case Key::Backslash: return '\\';
    case Key::Backtick: return '`';
    case Key::Tab: return 258;
    case Key::Enter: return 257;
    case Key::Escape: return 256;
    case Key::Backspace: return 259;
    case Key::Delete: return 261;
    case Key::Insert: return 260;
    case Key::Space: return ' ';
    default: break;
  }
  HEDDLE_ASSERT(false, "every key has a code");
  return 0;
}
#else
ImGuiKey code_of(Key key) {
  if (key <= Key::Z) return static_cast<ImGuiKey>(ImGuiKey_A + static_cast<int>(key));
  if (key <= Key::Num9) return static_cast<ImGuiKey>(ImGuiKey_0 + static_cast<int>(key) - static_cast<int>(Key::Num0));
  if (key <= Key::F12) return static_cast<ImGuiKey>(ImGuiKey_F1 + static_cast<int>(key) - static_cast<int>(Key::F1));
  switch (key) {
    case Key::Left: return ImGuiKey_LeftArrow;
    case Key::Right: return ImGuiKey_RightArrow;
    case Key::Up: return ImGuiKey_UpArrow;
    case Key::Down: return ImGuiKey_DownArrow;
    case Key::Home: return ImGuiKey_Home;
    case Key::End: return ImGuiKey_End;
    case Key::PageUp: return ImGuiKey_PageUp;
    case Key::PageDown: return ImGuiKey_PageDown;
    case Key::Period: return ImGuiKey_Period;
    case Key::Comma: return ImGuiKey_Comma;
    case Key::LeftBracket: return ImGuiKey_LeftBracket;
    case Key::RightBracket: return ImGuiKey_RightBracket;
    case Key::Slash: return ImGuiKey_Slash;
    case Key::Minus: return ImGuiKey_Minus;
    case Key::Equal: return ImGuiKey_Equal;
    case Key::Semicolon: return ImGuiKey_Semicolon;
    case Key::Apostrophe: return ImGuiKey_Apostrophe;
    case Key::Backslash: return ImGuiKey_Backslash;
    case Key::Backtick: return ImGuiKey_GraveAccent;
    case Key::Tab: return ImGuiKey_Tab;
    case Key::Enter: return ImGuiKey_Enter;
    case Key::Escape: return ImGuiKey_Escape;
    case Key::Backspace: return ImGuiKey_Backspace;
    case Key::Delete: return ImGuiKey_Delete;
    case Key::Insert: return ImGuiKey_Insert;
    case Key::Space: return ImGuiKey_Space;
    default: break;
  }
  return ImGuiKey_None;
}
#endif

}  // namespace

bool key_pressed(Key key, bool repeat) { return ImGui::IsKeyPressed(code_of(key), repeat); }
bool key_down(Key key) { return ImGui::IsKeyDown(code_of(key)); }

bool any_key_pressed() {
#if IMGUI_VERSION_NUM < 18700
  for (int key = 0; key < IM_ARRAYSIZE(ImGui::GetIO().KeysDown); ++key)
    if (ImGui::IsKeyPressed(key, false)) return true;
#else
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END; ++key)
    if (ImGui::IsKeyPressed(static_cast<ImGuiKey>(key), false)) return true;
#endif
  return false;
}

#if IMGUI_VERSION_NUM < 18700
void feed_mouse_position(float x, float y) { ImGui::GetIO().MousePos = ImVec2(x, y); }
void feed_mouse_button(int button, bool down) { ImGui::GetIO().MouseDown[button] = down; }
void feed_wheel(float vertical, float horizontal) {
  ImGui::GetIO().MouseWheel += vertical;
  ImGui::GetIO().MouseWheelH += horizontal;
}
void feed_key(Key key, bool down) { ImGui::GetIO().KeysDown[code_of(key)] = down; }
void feed_modifiers(bool ctrl, bool shift, bool alt) {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = ctrl;
  io.KeyShift = shift;
  io.KeyAlt = alt;
}

void setup_headless_io() {
  ImGuiIO& io = ImGui::GetIO();
  const std::array<std::pair<ImGuiKey_, Key>, 20> map{{{ImGuiKey_Tab, Key::Tab},
                                                       {ImGuiKey_LeftArrow, Key::Left},
                                                       {ImGuiKey_RightArrow, Key::Right},
                                                       {ImGuiKey_UpArrow, Key::Up},
                                                       {ImGuiKey_DownArrow, Key::Down},
                                                       {ImGuiKey_PageUp, Key::PageUp},
                                                       {ImGuiKey_PageDown, Key::PageDown},
                                                       {ImGuiKey_Home, Key::Home},
                                                       {ImGuiKey_End, Key::End},
                                                       {ImGuiKey_Delete, Key::Delete},
                                                       {ImGuiKey_Backspace, Key::Backspace},
                                                       {ImGuiKey_Space, Key::Space},
                                                       {ImGuiKey_Enter, Key::Enter},
                                                       {ImGuiKey_Escape, Key::Escape},
                                                       {ImGuiKey_A, Key::A},
                                                       {ImGuiKey_C, Key::C},
                                                       {ImGuiKey_V, Key::V},
                                                       {ImGuiKey_X, Key::X},
                                                       {ImGuiKey_Y, Key::Y},
                                                       {ImGuiKey_Z, Key::Z}}};
  for (const auto& [theirs, ours] : map) io.KeyMap[theirs] = code_of(ours);
  // Without this a draw list of more than 65535 vertices aborts.
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
}
#else
void feed_mouse_position(float x, float y) { ImGui::GetIO().AddMousePosEvent(x, y); }
void feed_mouse_button(int button, bool down) { ImGui::GetIO().AddMouseButtonEvent(button, down); }
void feed_wheel(float vertical, float horizontal) { ImGui::GetIO().AddMouseWheelEvent(horizontal, vertical); }
void feed_key(Key key, bool down) { ImGui::GetIO().AddKeyEvent(code_of(key), down); }
void feed_modifiers(bool ctrl, bool shift, bool alt) {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18900
  io.AddKeyEvent(ImGuiMod_Ctrl, ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
  io.AddKeyEvent(ImGuiMod_Alt, alt);
#else
  io.AddKeyEvent(ImGuiKey_ModCtrl, ctrl);
  io.AddKeyEvent(ImGuiKey_ModShift, shift);
  io.AddKeyEvent(ImGuiKey_ModAlt, alt);
#endif
}
void setup_headless_io() { ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset; }
#endif

void adopt_font_texture() {
#if IMGUI_VERSION_NUM >= 19200
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#else
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  ImGui::GetIO().Fonts->SetTexID(reinterpret_cast<ImTextureID>(std::uintptr_t{1}));
#endif
}

void forget_clipboard() {
  static std::string text;
  text.clear();
#if IMGUI_VERSION_NUM >= 19110
  ImGuiPlatformIO& io = ImGui::GetPlatformIO();
  io.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* set) { text = set; };
  io.Platform_GetClipboardTextFn = [](ImGuiContext*) { return text.c_str(); };
#else
  ImGuiIO& io = ImGui::GetIO();
  io.SetClipboardTextFn = [](void*, const char* set) { text = set; };
  io.GetClipboardTextFn = [](void*) { return text.c_str(); };
#endif
}

#if IMGUI_VERSION_NUM < 18700
namespace {

struct KeyPress {
  int key;
  bool ctrl, shift, alt;
};
std::vector<KeyPress> pressed_keys;  // since the last frame
std::vector<int> held_keys;          // up again, but shown as down in the last frame
bool modifiers_held = false;         // the same for modifiers

bool any_down(int left, int right) { return ImGui::GetIO().KeysDown[left] || ImGui::GetIO().KeysDown[right]; }

}  // namespace

void note_key_event(int key, bool down, bool ctrl, bool shift, bool alt) {
  constexpr int kFirstModifier = 340;
  if (down && key >= 0 && key < 512 && key < kFirstModifier) pressed_keys.push_back({key, ctrl, shift, alt});
}

bool hold_quick_keys() {
  ImGuiIO& io = ImGui::GetIO();
  for (const int key : held_keys) io.KeysDown[key] = false;
  const std::vector<int> released = std::exchange(held_keys, {});
  if (std::exchange(modifiers_held, false)) {
    io.KeyShift = any_down(340, 344);
    io.KeyCtrl = any_down(341, 345);
    io.KeyAlt = any_down(342, 346);
  }
  std::size_t taken = 0;
  for (; taken < pressed_keys.size(); ++taken) {
    const KeyPress &press = pressed_keys[taken], &first = pressed_keys.front();
    if (press.ctrl != first.ctrl || press.shift != first.shift || press.alt != first.alt) break;
    // ImGui sees a second press only after a frame without the first.
    if (std::find(released.begin(), released.end(), press.key) != released.end()) {
      io.KeysDown[press.key] = false;
      break;
    }
    if (!io.KeysDown[press.key]) {
      io.KeysDown[press.key] = true;
      held_keys.push_back(press.key);
    }
    // The modifiers may have changed since.
    io.KeyCtrl = press.ctrl;
    io.KeyShift = press.shift;
    io.KeyAlt = press.alt;
    modifiers_held = true;
  }
  pressed_keys.erase(pressed_keys.begin(), pressed_keys.begin() + static_cast<std::ptrdiff_t>(taken));
  // A key of a later frame may be down already; it goes down when its turn comes.
  for (const KeyPress& waiting : pressed_keys) io.KeysDown[waiting.key] = false;
  return !pressed_keys.empty();
}
#else
void note_key_event(int, bool, bool, bool, bool) {}
bool hold_quick_keys() { return false; }
#endif

bool in_dialog() { return ImGui::GetTopMostPopupModal() != nullptr; }

void close_popups() {
  if (GImGui->OpenPopupStack.Size > 0) ImGui::ClosePopupToLevel(0, true);
}

std::string take_typed_text() {
  ImVector<ImWchar>& queue = ImGui::GetIO().InputQueueCharacters;
  std::string text;
  for (const ImWchar typed : queue) {
    const auto c = static_cast<unsigned>(typed);
    const auto byte = [&](unsigned value) { text += static_cast<char>(value); };
    if (c < 0x20 || c == 0x7f) continue;
    if (c < 0x80) {
      byte(c);
    } else if (c < 0x800) {
      byte(0xc0 | (c >> 6)), byte(0x80 | (c & 0x3f));
    } else {
      byte(0xe0 | ((c >> 12) & 0xf)), byte(0x80 | ((c >> 6) & 0x3f)), byte(0x80 | (c & 0x3f));
    }
  }
  queue.resize(0);
  return text;
}

void feed_text(const char* utf8) { ImGui::GetIO().AddInputCharactersUTF8(utf8); }

float font_size(const ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
  return font->LegacySize;
#else
  return font->FontSize;
#endif
}

void push_font(ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
  ImGui::PushFont(font, font->LegacySize);
#else
  ImGui::PushFont(font);
#endif
}

void allow_overlap_after_item() {
#if IMGUI_VERSION_NUM < 18970
  ImGui::SetItemAllowOverlap();
#endif
}

}  // namespace heddle::app
