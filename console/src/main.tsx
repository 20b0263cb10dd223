/** The console's beginning. */
import './ui/nonce';
import './styles/app.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { makeQueryClient } from './api/queries';
import { makeRouter } from './routes/router';
import { TooltipProvider } from './ui/overlays';
import { applyTheme } from './ui/theme';

applyTheme();
const queries = makeQueryClient();
const router = makeRouter(queries);
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <TooltipProvider>
          <RouterProvider router={router} />
        </TooltipProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
