import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * A real program: Eclipse's Java compiler. Arguments: its jar, and the source files that it compiles repeatedly without
 * writing output. "compile 1 R": the best time of R rounds, as "ns=".
 */
public final class Compiles {
    public static void main(String[] args) throws Exception {
        URLClassLoader loader = new URLClassLoader(new URL[] {new File(args[0]).toURI().toURL()});
        Class<?> compiler = loader.loadClass("org.eclipse.jdt.core.compiler.batch.BatchCompiler");
        Class<?> progress = loader.loadClass("org.eclipse.jdt.core.compiler.CompilationProgress");
        Method compile = compiler.getMethod("compile", String[].class, PrintWriter.class, PrintWriter.class, progress);
        String[] words = args.clone();
        words[0] = "-17";
        String[] all = new String[words.length + 4];
        System.arraycopy(new String[] {"-d", "none", "-proc:none", "-nowarn"}, 0, all, 0, 4);
        System.arraycopy(words, 0, all, 4, words.length);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            int rounds = Integer.parseInt(line.split(" ")[2]);
            long best = Long.MAX_VALUE;
            String error = null;
            for (int i = 0; i < rounds; i++) {
                StringWriter said = new StringWriter();
                long start = System.nanoTime();
                Object whole = compile.invoke(null, all, new PrintWriter(said), new PrintWriter(said), null);
                best = Math.min(best, System.nanoTime() - start);
                error = Boolean.TRUE.equals(whole) ? null : said.toString().replace('\n', ' ');
            }
            System.out.println(error == null ? "OK ns=" + best + " calls=1" : "ERR " + error);
        }
    }
}
