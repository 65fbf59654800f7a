import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/**
 * A program with many classes and a thread that must not be delayed. "load N" loads and links classes of java.base,
 * java.desktop and java.xml, without running their initializers, until N are loaded. "stall 0" answers with the longest
 * time, in us, for which the busy thread was not running since the last "stall".
 */
public final class ManyClasses {
    private static volatile long longest;

    private static void watch() {
        long before = System.nanoTime();
        for (;;) {
            long now = System.nanoTime();
            if (now - before > longest) {
                longest = now - before;
            }
            before = now;
        }
    }

    private static List<String> names() throws IOException {
        List<String> found = new ArrayList<>();
        for (String module : new String[] {"java.base", "java.desktop", "java.xml"}) {
            Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules", module);
            try (Stream<Path> files = Files.walk(root)) {
                files.map(file -> root.relativize(file).toString())
                    .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                    .forEach(name -> found.add(name.substring(0, name.length() - 6).replace('/', '.')));
            }
        }
        Collections.sort(found);
        return found;
    }

    private static int load(int wanted) throws IOException {
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        for (String name : names()) {
            if (classes.getLoadedClassCount() >= wanted) {
                break;
            }
            try {
                // Links the class; its initializer does not run.
                Class.forName(name, false, null).getDeclaredMethods();
            } catch (LinkageError | ClassNotFoundException e) {
                continue;
            }
        }
        return classes.getLoadedClassCount();
    }

    public static void main(String[] args) throws Exception {
        Thread watcher = new Thread(ManyClasses::watch, "watcher");
        watcher.setDaemon(true);
        watcher.start();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            if (words[0].equals("load")) {
                System.out.println("OK loaded=" + load(Integer.parseInt(words[1])));
            } else {
                System.out.println("OK us=" + longest / 1000);
                longest = 0;
            }
        }
    }
}
