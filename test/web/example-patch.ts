/** A patch as git writes one, with a line that looks like a header. */
export const patch = `diff --git a/src/pager.js b/src/pager.js
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/src/pager.js
+++ b/src/pager.js
@@ -1,5 +1,6 @@
 export function pages(rows, size) {
-  return Math.floor(rows / size);
+  // A partial last page is a page.
+  return Math.ceil(rows / size);
 }
 
 export const first = 1;
diff --git a/CHANGELOG.md b/CHANGELOG.md
new file mode 100644
index 0000000000000000000000000000000000000000..3333333333333333333333333333333333333333
--- /dev/null
+++ b/CHANGELOG.md
@@ -0,0 +1,2 @@
+# Changes
+--- Show the last page.
`;
