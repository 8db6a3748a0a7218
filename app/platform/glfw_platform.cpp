#include "app/platform/glfw_platform.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"

namespace heddle::app {
namespace {

constexpr int kStep = 48;
std::atomic<bool> woken = false;
std::string last_error;

GlfwPlatform& platform_of(GLFWwindow* window) { return *static_cast<GlfwPlatform*>(glfwGetWindowUserPointer(window)); }

// These are installed before ImGui's, which call them in turn.
void install_callbacks(GLFWwindow* window) {
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { platform_of(w).note_input(); });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { platform_of(w).note_input(); });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { platform_of(w).note_input(); });
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int modifiers) {
    platform_of(w).note_input();
    note_key_event(key, action == GLFW_PRESS, (modifiers & GLFW_MOD_CONTROL) != 0, (modifiers & GLFW_MOD_SHIFT) != 0,
                   (modifiers & GLFW_MOD_ALT) != 0);
  });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned) { platform_of(w).note_input(); });
  glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { platform_of(w).note_input(); });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { platform_of(w).note_input(); });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { platform_of(w).note_input(); });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { platform_of(w).note_input(); });
  glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { platform_of(w).note_input(); });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) { platform_of(w).note_drop(count, paths); });
}

}  // namespace

Result<std::unique_ptr<GlfwPlatform>> GlfwPlatform::create(const std::string& title, int width, int height, int number) {
  glfwSetErrorCallback([](int, const char* description) { last_error = description; });
  if (glfwInit() != GLFW_TRUE)
    return Error::environment("no display: " + last_error, "use the heddle command line, heddle-gui --screenshot, or xvfb-run heddle-gui");
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  // Never larger than the screen.
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
    int x = 0, y = 0, w = 0, h = 0;
    glfwGetMonitorWorkarea(monitor, &x, &y, &w, &h);
    if (w > 0 && h > 0) width = std::min(width, w), height = std::min(height, h);
  }
  GLFWwindow* window = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
  if (window == nullptr) {
    glfwTerminate();
    return Error::environment("no window with OpenGL 3.3: " + last_error, "install libgl1-mesa-dri");
  }
  if (number > 1) {
    int x = 0, y = 0;
    glfwGetWindowPos(window, &x, &y);
    glfwSetWindowPos(window, x + (number - 1) * kStep, y + (number - 1) * kStep);
  }
  glfwSetWindowSizeLimits(window, 640, 400, GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwMakeContextCurrent(window);
  glfwSwapInterval(1);
  std::unique_ptr<GlfwPlatform> platform(new GlfwPlatform(window));
  glfwSetWindowUserPointer(window, platform.get());
  install_callbacks(window);
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  load_fonts(1, false);
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ImGui_ImplOpenGL3_Init("#version 330 core");
  return platform;
}

GlfwPlatform::~GlfwPlatform() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

Next GlfwPlatform::begin_frame(Pace pace) {
  if (pace == Pace::Animating || frames_wanted_ > 0)
    glfwPollEvents();
  else
    glfwWaitEventsTimeout(0.1);
  if (glfwWindowShouldClose(window_) == GLFW_TRUE) return Next::Close;
  const double now = glfwGetTime();
  if (frames_wanted_ > 0) last_input_ = now;
  if (woken.exchange(false)) frames_wanted_ = std::max(frames_wanted_, 1);
  // Tooltips appear and the text cursor blinks for a while after the last input.
  const bool settling = now - last_input_ < 1.0 || ImGui::GetIO().WantTextInput;
  if (pace == Pace::Idle && frames_wanted_ == 0 && !settling) return Next::Skip;
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  if (width == 0 || height == 0) {  // minimized
    frames_wanted_ = 0;
    return Next::Skip;
  }
  if (frames_wanted_ > 0) --frames_wanted_;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  if (hold_quick_keys()) note_input();
  ImGui::NewFrame();
  return Next::Draw;
}

void GlfwPlatform::end_frame() {
  ImGui::Render();
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  glViewport(0, 0, width, height);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (std::exchange(picture_wanted_, false)) {
    // Before the buffers change places: what is in the back one afterwards is anybody's guess.
    Picture picture{width, height, {}};
    picture.rgba.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, picture.rgba.data());
    turn_over(picture);
    picture_ = std::move(picture);
  }
  if (std::exchange(swap_, true))
    glfwSwapBuffers(window_);
  else
    note_input();  // the frame that is to be looked at comes next
}

std::optional<Picture> GlfwPlatform::take_picture() { return std::exchange(picture_, std::nullopt); }

void GlfwPlatform::stay_open() {
  glfwSetWindowShouldClose(window_, GLFW_FALSE);
  note_input();
}

void GlfwPlatform::set_scale(float scale) {
  load_fonts(scale, false);
#if IMGUI_VERSION_NUM < 19200
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
  note_input();
}

float GlfwPlatform::display_scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return std::max(x, 0.5f);
}

void GlfwPlatform::wake() {
  woken = true;
  glfwPostEmptyEvent();
}

void GlfwPlatform::set_title(const std::string& title) { glfwSetWindowTitle(window_, title.c_str()); }

void GlfwPlatform::note_drop(int count, const char** paths) {
  dropped_.insert(dropped_.end(), paths, paths + count);
  note_input();
}

std::vector<std::string> GlfwPlatform::take_dropped_files() { return std::exchange(dropped_, {}); }

}  // namespace heddle::app
