import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Makes a native library rewrite classes and the JVM verify them. "image CALLOUTS SECONDS" takes the classes of the JDK
 * itself, in an order that spreads over the packages, until the time is over (at least one batch); "jars CALLOUTS SECONDS
 * FILE:FILE..." takes those of jars. The answer has the number of classes rewritten, the number that the JVM refused,
 * and the library's own counts.
 */
public final class RewriteAll {
    private static final int BATCH = 250;

    /** Returns the number of classes that the JVM refused; their names go to stderr. */
    private static native int rewrite(Class<?>[] classes, int callouts);

    private static native String figures();

    private static List<String> imageClasses() throws IOException {
        final List<String> names = new ArrayList<>();
        String boot = System.getProperty("sun.boot.class.path");
        if (boot != null) {
            for (String jar : boot.split(":")) {
                if (Files.isRegularFile(java.nio.file.Paths.get(jar))) {
                    names.addAll(jarClasses(jar));
                }
            }
            return names;
        }
        final Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        Files.walkFileTree(modules, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = file.toString();
                if (name.endsWith(".class") && !name.endsWith("-info.class")) {
                    String inside = name.substring(name.indexOf('/', "/modules/".length()) + 1);
                    names.add(inside.substring(0, inside.length() - 6).replace('/', '.'));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return names;
    }

    private static List<String> jarClasses(String jar) throws IOException {
        List<String> names = new ArrayList<>();
        try (JarFile file = new JarFile(jar)) {
            for (Enumeration<JarEntry> entries = file.entries(); entries.hasMoreElements();) {
                String name = entries.nextElement().getName();
                if (name.endsWith(".class") && !name.startsWith("META-INF/") && !name.endsWith("-info.class")) {
                    names.add(name.substring(0, name.length() - 6).replace('/', '.'));
                }
            }
        }
        return names;
    }

    private static String run(List<String> names, ClassLoader loader, int callouts, long seconds) {
        Collections.sort(names);
        Collections.shuffle(names, new java.util.Random(42));
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        List<Class<?>> batch = new ArrayList<>();
        int done = 0;
        int failed = 0;
        int missing = 0;
        for (int i = 0; i < names.size(); i++) {
            try {
                batch.add(Class.forName(names.get(i), false, loader));
            } catch (LinkageError | ClassNotFoundException | SecurityException e) {
                missing++;
            }
            boolean over = System.nanoTime() > end && done + batch.size() >= BATCH;
            if (batch.size() == BATCH || over || i == names.size() - 1) {
                failed += rewrite(batch.toArray(new Class<?>[0]), callouts);
                done += batch.size();
                batch.clear();
            }
            if (over) {
                break;
            }
        }
        return "classes=" + done + " failed=" + failed + " missing=" + missing + " of=" + names.size() + " " + figures();
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            String answer;
            if (words[0].equals("image")) {
                answer = run(imageClasses(), ClassLoader.getSystemClassLoader(), Integer.parseInt(words[1]), Long.parseLong(words[2]));
            } else {
                List<String> names = new ArrayList<>();
                List<URL> jars = new ArrayList<>();
                for (String jar : words[3].split(":")) {
                    names.addAll(jarClasses(jar));
                    jars.add(new URL("file:" + jar));
                }
                URLClassLoader loader = new URLClassLoader(jars.toArray(new URL[0]), ClassLoader.getSystemClassLoader());
                answer = run(names, loader, Integer.parseInt(words[1]), Long.parseLong(words[2]));
            }
            System.out.println("OK " + answer);
        }
    }
}
