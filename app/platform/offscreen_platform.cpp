#include "app/platform/offscreen_platform.h"

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <backends/imgui_impl_opengl3.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cstring>

namespace heddle::app {

struct OffscreenPlatform::Gl {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
  GLuint framebuffer = 0, color = 0;
  bool renderer = false;

  ~Gl() {
    if (framebuffer != 0) glDeleteFramebuffers(1, &framebuffer);
    if (color != 0) glDeleteRenderbuffers(1, &color);
    if (display == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
    eglTerminate(display);
  }
};

namespace {

Error no_egl(const char* what) {
  return Error::environment(fmt::format("no off-screen OpenGL: {} (EGL error {:#x})", what, eglGetError()),
                            "install libegl1 and libgl1-mesa-dri");
}

EGLDisplay open_display() {
  const auto get = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
  const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  const auto usable = [](EGLDisplay display) { return display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE; };
  if (get != nullptr && extensions != nullptr) {
    if (std::strstr(extensions, "EGL_MESA_platform_surfaceless") != nullptr) {
      const EGLDisplay display = get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
      if (usable(display)) return display;
    }
    const auto query = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
    EGLDeviceEXT device = nullptr;
    EGLint count = 0;
    if (query != nullptr && query(1, &device, &count) == EGL_TRUE && count > 0) {
      const EGLDisplay display = get(EGL_PLATFORM_DEVICE_EXT, device, nullptr);
      if (usable(display)) return display;
    }
  }
  const EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  return usable(display) ? display : EGL_NO_DISPLAY;
}

}  // namespace

Result<std::unique_ptr<OffscreenPlatform>> OffscreenPlatform::create(int width, int height, bool built_in_font) {
  if (width < 1 || height < 1 || width > 16384 || height > 16384) return Error::input("a picture is 1 to 16384 pixels wide and high");
  auto gl = std::make_unique<Gl>();
  gl->display = open_display();
  if (gl->display == EGL_NO_DISPLAY) return no_egl("no EGL display");
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) return no_egl("EGL offers no desktop OpenGL");
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint configs = 0;
  if (eglChooseConfig(gl->display, wanted, &config, 1, &configs) != EGL_TRUE || configs == 0) config = EGL_NO_CONFIG_KHR;
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  gl->context = eglCreateContext(gl->display, config, EGL_NO_CONTEXT, version);
  if (gl->context == EGL_NO_CONTEXT) return no_egl("no OpenGL 3.3 context");
  if (eglMakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl->context) != EGL_TRUE)
    return no_egl("the context cannot be used without a surface");
  glGenFramebuffers(1, &gl->framebuffer);
  glGenRenderbuffers(1, &gl->color);
  glBindRenderbuffer(GL_RENDERBUFFER, gl->color);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, gl->framebuffer);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, gl->color);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) return no_egl("no framebuffer of that size");
  std::unique_ptr<OffscreenPlatform> platform(new OffscreenPlatform(width, height, built_in_font, std::move(gl)));
  if (!ImGui_ImplOpenGL3_Init("#version 330 core")) return no_egl("Dear ImGui's renderer does not start");
  platform->gl_->renderer = true;
  return platform;
}

OffscreenPlatform::OffscreenPlatform(int width, int height, bool built_in_font, std::unique_ptr<Gl> gl)
    : HeadlessPlatform(width, height, built_in_font), gl_(std::move(gl)) {}

OffscreenPlatform::~OffscreenPlatform() {
  if (gl_->renderer) ImGui_ImplOpenGL3_Shutdown();
}

void OffscreenPlatform::upload_fonts() {
#if IMGUI_VERSION_NUM < 19200
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

void OffscreenPlatform::new_render_frame() { ImGui_ImplOpenGL3_NewFrame(); }

void OffscreenPlatform::render() {
  glBindFramebuffer(GL_FRAMEBUFFER, gl_->framebuffer);
  glViewport(0, 0, width(), height());
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void OffscreenPlatform::finish() const { glFinish(); }

Picture OffscreenPlatform::read_picture() const {
  Picture picture{width(), height(), {}};
  picture.rgba.resize(static_cast<std::size_t>(width()) * static_cast<std::size_t>(height()) * 4);
  glBindFramebuffer(GL_FRAMEBUFFER, gl_->framebuffer);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width(), height(), GL_RGBA, GL_UNSIGNED_BYTE, picture.rgba.data());
  turn_over(picture);
  return picture;
}

}  // namespace heddle::app
