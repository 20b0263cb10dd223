/** The serif of the work, loaded with the first piece of work on the screen. */
import '@fontsource-variable/source-serif-4/wght.css';
