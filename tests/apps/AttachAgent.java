/** A Java agent: notes its argument in a system property, or throws where the argument says so. */
public final class AttachAgent {
    public static void agentmain(String argument) {
        if ("throw".equals(argument)) {
            throw new IllegalStateException("as asked");
        }
        System.setProperty("attach.agent", argument == null ? "none" : argument);
    }
}
