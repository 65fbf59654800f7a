// Native methods of tests/apps/FrameRoots.java: one that holds its arguments, one that has local references and calls
// Java.
#include <jni.h>
#include <unistd.h>

JNIEXPORT void JNICALL Java_FrameRoots_holdNative(JNIEnv* env, jclass clazz, jobject a, jobject b, jobject c, jobject d,
                                                  jobject e, jobject f, jobject g, jobject h) {
  (void)env, (void)clazz, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  for (;;) sleep(1000);
}

// Two references of its own, one of them in a local frame around that of the call.
JNIEXPORT void JNICALL Java_FrameRoots_callBack(JNIEnv* env, jclass clazz) {
  jmethodID make = (*env)->GetStaticMethodID(env, clazz, "made", "()LFrameRoots$Kept;");
  jmethodID rest = (*env)->GetStaticMethodID(env, clazz, "rest", "()V");
  (void)(*env)->CallStaticObjectMethod(env, clazz, make);
  if ((*env)->PushLocalFrame(env, 4) != 0) return;
  (void)(*env)->CallStaticObjectMethod(env, clazz, make);
  (*env)->CallStaticVoidMethod(env, clazz, rest);
}
